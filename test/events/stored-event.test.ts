import { positionIn, sequenceOf, StoredEvent, wireBytes } from '../../src/events/stored-event';
import { newEvent } from '../support/events';
import { xmlText } from '../../src/xml/characters';

it.each([
  [1, '00000000000000000001'],
  [Number.MAX_SAFE_INTEGER, '00009007199254740991'],
])('writes the position %d with 20 digits, and reads it again', (position, sequence) => {
  expect(sequenceOf(position)).toBe(sequence);
  expect(positionIn(sequence)).toBe(position);
  expect(positionIn(String(position))).toBe(position);
});

it.each(['9007199254740992', '18446744073709551615', '9'.repeat(20)])(
  'takes %s for a position after every event',
  (text) => {
    expect(positionIn(text)).toBe(Number.MAX_SAFE_INTEGER);
  },
);

it.each(['', ' 1', '-1', '1.0', '1e3', '0x1', '1'.repeat(21), '١'])('there is no position in "%s"', (text) => {
  expect(positionIn(text)).toBeUndefined();
});

it.each(['', 'plain', '&<>"\'\r\n\t', 'é', '\u{1F600}', '\u2028', ']]>'])(
  'counts the bytes that %j takes as XML text',
  (text) => {
    expect(wireBytes(text)).toBe(Buffer.byteLength(xmlText(text)));
  },
);

it.each<[string, object]>([
  ['attributes', { attributes: '[]' }],
  ['data', { data: '"data_base64":"AA*="' }],
  ['arrival', { arrival: '"POST"' }],
])('tells that its %s cannot be read where the disk has damaged an event: %j', (what, damaged) => {
  expect(StoredEvent.problemOf(newEvent({ data: ' "data_base64" : "AP8=" ' }))).toBeUndefined();
  expect(StoredEvent.problemOf(newEvent(damaged))).toBe(`its ${what} cannot be read`);
});
