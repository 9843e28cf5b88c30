import { plainReason, reasonOf } from '../../src/util/errors';

const failure = (code: string, fields = {}) => Object.assign(new Error('a message'), { code, ...fields });

it.each([
  [failure('EACCES'), /^the user \S+ has no permission$/],
  [failure('ECONNREFUSED', { address: '::1', port: 80 }), /^nothing listens at ::1 on port 80$/],
  [new AggregateError([failure('ENOTFOUND'), failure('EACCES')]), /^its name is unknown$/],
  [failure('CERT_HAS_EXPIRED'), /^its certificate has expired$/],
  [failure('EOTHER'), /^a message$/],
])('%s is explained as %s', (error, reason) => {
  expect(reasonOf(error)).toMatch(reason);
});

it('a chain of errors is one sentence', () => {
  const cause = new Error('A file cannot be read.', { cause: new Error('the disk is full') });
  expect(plainReason(new Error('The log cannot be opened.', { cause }))).toBe(
    'The log cannot be opened: A file cannot be read: the disk is full',
  );
  expect([plainReason(new Error('')), plainReason('text')]).toEqual(Array(2).fill('Unknown error.'));
});
