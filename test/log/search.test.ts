import type { NewEvent } from '../../src/events/stored-event';
import type { Match } from '../../src/log/queries';
import { eventMatcher } from '../../src/log/search';
import { newEvent } from '../support/events';

const EMOJI = '\u{1F600}';
const shown = (event: Partial<NewEvent>, text?: string) =>
  eventMatcher({ text, limit: 1 })({ ...newEvent(event), position: 1 });

it.each<
  [
    what: string,
    text: string,
    event: Partial<NewEvent>,
    match: [Match['in'], before: string, text: string, after: string] | undefined,
  ]
>([
  ['in JSON', '17}', { data: '"data":{"order":17}', attributes: '{"a":17}' }, ['data', '{"order":', '17}', '']],
  [
    'in a string, without its escapes',
    'says "HI"',
    { data: '"data":"a\\nm\\u00fcller says \\"hi\\" to you"' },
    ['data', 'a\nmüller ', 'says "hi"', ' to you'],
  ],
  [
    'far into a string that is large, and the first of several',
    'needle',
    { data: `"data":"${'\\u00e9'.repeat(200_000)}neeDLE${'\\u00e9'.repeat(200_000)}needle"` },
    ['data', `…${'é'.repeat(24)}`, 'neeDLE', `${'é'.repeat(96)}…`],
  ],
  [
    'far into JSON that is large',
    'needle',
    { data: `"data":["${EMOJI.repeat(200_000)}xneedlex${EMOJI.repeat(48)}"]` },
    ['data', `…${EMOJI.repeat(11)}x`, 'needle', `x${EMOJI.repeat(47)}…`],
  ],
  ['with the quotes of a string', '"here"', { data: '"data":"here"' }, ['data', '', '"here"', '']],
  [
    'after many escapes',
    'needle',
    { data: `"data":"${'\\\\x'.repeat(100)}yneedle"` },
    ['data', `…x${'\\x'.repeat(11)}y`, 'needle', ''],
  ],
  ['within an escape', 'nb', { data: '"data":"\\"a\\nb"' }, ['data', '"a\\', 'nb', '']],
  [
    'in the attributes',
    '"PAID',
    { attributes: '{"source":"/some/where","type":"paid"}', arrival: '{"path":"paid"}', data: '"data":"text"' },
    ['attributes', '…e":"/some/where","type":', '"paid', '"}'],
  ],
  [
    'in how it arrived, beside data that is not searched',
    'data',
    { arrival: '{"path":"/data"}', data: '"data_base64":"data"' },
    ['arrival', '{"path":"/', 'data', '"}'],
  ],
  ['in the name of the data member, as none', 'data', { data: '"data":"x"' }, undefined],
])('a list shows a match %s', (_what, text, event, match) => {
  const [place, before, found, after] = match ?? [];
  expect(shown(event, text)?.match).toEqual(match && { in: place, before, text: found, after });
});

const JSON_DATA = `[${'1,'.repeat(100_000)}1]`;
const BASE64 = Buffer.alloc(100_000).toString('base64');

it.each([
  [`"data":${JSON_DATA}`, { kind: 'json', bytes: JSON_DATA.length, start: JSON_DATA.slice(0, 120), cut: true }],
  [`"data":"${'\\u0000'.repeat(100_000)}"`, { kind: 'text', bytes: 100_000, start: '\0'.repeat(120), cut: true }],
  [`"data":"a${EMOJI.repeat(1000)}"`, { kind: 'text', bytes: 4001, start: `a${EMOJI.repeat(59)}`, cut: true }],
  [`"data_base64":"${BASE64}"`, { kind: 'bytes', bytes: 100_000, start: BASE64.slice(0, 120), cut: true }],
  [`"data":"${'y'.repeat(120)}"`, { kind: 'text', bytes: 120, start: 'y'.repeat(120), cut: false }],
  ['"data_base64":"AA=="', { kind: 'bytes', bytes: 1, start: 'AA==', cut: false }],
  ['"data":""', { kind: 'text', bytes: 0, start: '', cut: false }],
  ['"data":"damaged', undefined],
  ['"data":null', { kind: 'json', bytes: 4, start: 'null', cut: false }],
])('a list shows only the start of large data (%#)', (data, summary) => {
  expect(shown({ data })?.data).toEqual(summary);
});

it('a list shortens what else is long', () => {
  const long = 'z'.repeat(1_000_000);
  const attributes = JSON.stringify({ type: long, binding: long });
  const cut = `${'z'.repeat(200)}…`;
  const shortened = { id: cut, type: cut, binding: cut, remoteAddress: cut };
  expect(shown({ id: long, attributes, arrival: JSON.stringify({ remoteAddress: long }) })).toMatchObject(shortened);
});
