import { parseTask } from '../../../src/cli/compare/compare-task';
import { UsageError } from '../../../src/cli/terminal';

const CONNECTION = { caFile: undefined, isInsecure: false, timeout: 30_000 };
const COMPARE = {
  name: 'compare',
  old: 'a',
  new: 'b',
  isBrief: false,
  isVerbose: false,
  makesCalls: true,
  asked: [],
  ...CONNECTION,
};

describe('the arguments of the comparison', () => {
  it.each([
    ['--help', { name: 'help' }],
    ['-v', { name: 'version' }],
    ['a', { name: 'settings', old: 'a', file: undefined, ...CONNECTION }],
    ['a --write .env', { name: 'settings', old: 'a', file: '.env', ...CONNECTION }],
    [
      'a --ca f --insecure',
      { name: 'settings', old: 'a', file: undefined, ...CONNECTION, caFile: 'f', isInsecure: true },
    ],
    ['a b', COMPARE],
    ['a b --brief', { ...COMPARE, isBrief: true }],
    ['a b --verbose', { ...COMPARE, isVerbose: true }],
    ['--no-calls a b', { ...COMPARE, makesCalls: false }],
    ['a b --call GetEvents --call RecordEvent', { ...COMPARE, asked: ['GetEvents', 'RecordEvent'] }],
    ['a b --timeout 500ms', { ...COMPARE, timeout: 500 }],
  ])('can be %s', (args, task) => {
    expect(parseTask(args.split(' '))).toEqual(task);
  });

  it.each([
    ['', 'Nothing to compare'],
    ['a b c', 'Give two addresses at most'],
    ['a b --write .env', '--write is for the settings of one service'],
    ['a --brief', 'nothing to compare with'],
    ['a b --call HelloWorld', 'neither RecordEvent nor GetEvents'],
    ['a b --call GetEvents --no-calls', 'cannot be used together'],
    ['a b --timeout soon', 'not a duration'],
    ['a b --timeout 0s', 'not a duration'],
    ['a b --unknown', "'--unknown'"],
    ['a b --ca', "'--ca"],
  ])('cannot be %j', (args, message) => {
    const parse = () => parseTask(args.split(' ').filter((arg) => arg !== ''));
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(message);
  });
});
