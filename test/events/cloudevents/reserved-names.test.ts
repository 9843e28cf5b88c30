import { withoutReservedNames } from '../../../src/events/cloudevents/reserved-names';

describe('the attributes of a sender', () => {
  it.each([
    [{}, {}],
    [{ a: 1 }, { a: 1 }],
    [{ sendersequence: '1' }, { sendersequence: '1' }],
    [
      { sequence: '7', a: 1 },
      { sendersequence: '7', a: 1 },
    ],
    [
      { binding: 'b', sequence: '7' },
      { senderbinding: 'b', sendersequence: '7' },
    ],
    [
      { sequence: '7', sendersequence: '6', sendersendersequence: '5' },
      { sendersendersendersequence: '7', sendersequence: '6', sendersendersequence: '5' },
    ],
    [
      { binding: 'b', sendersequence: '6' },
      { senderbinding: 'b', sendersequence: '6' },
    ],
  ])('%j have names that the log does not use: %j', (given, renamed) => {
    expect(withoutReservedNames(given)).toEqual(renamed);
  });
});
