import { meantOperation } from '../../../src/pages/service/pages';

const OPERATIONS = ['RecordEvent', 'GetEvents', 'HelloWorld'];

it.each([
  ['recordevent', 'RecordEvent'],
  ['HELLOWORLD', 'HelloWorld'],
  ['RecordEvents', 'RecordEvent'],
  ['GetEvent', 'GetEvents'],
  ['Events', 'GetEvents'],
  ['HeloWrold', 'HelloWorld'],
])('%s means %s', (given, meant) => {
  expect(meantOperation(given, OPERATIONS)).toBe(meant);
});

it.each(['', 'Nope', 'Record', 'Goodbye World', 'x'.repeat(10_000)])('%.20s means none', (given) => {
  expect(meantOperation(given, OPERATIONS)).toBeUndefined();
});

it('the same name in other letter case comes before one that is near', () => {
  expect(meantOperation('addall', ['AddAl', 'AddAll', 'AddBall'])).toBe('AddAll');
});
