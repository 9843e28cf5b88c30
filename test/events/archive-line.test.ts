import * as fc from 'fast-check';
import { ArchiveLine } from '../../src/events/archive-line';
import { senderAttributes } from '../../src/events/cloudevents/attributes';
import { EventFactory } from '../../src/events/event';
import { arrivalOf, type GivenArrival } from '../support/arrival';
import { type NewEvent, StoredEvent } from '../../src/events/stored-event';
import { anyCharacter } from '../support/arbitraries';

const REQUIRED = { specversion: '1.0', id: 'e-1', source: '/orders', type: 'order.placed' };
const factory = new EventFactory({ source: '/service', type: 'webhook.recorded' });
const read = (line: string): NewEvent => ArchiveLine.read(line).event;
const make = (given: GivenArrival): NewEvent => factory.make(...arrivalOf(given));

const HOSTILE_NAMES = `idempotencykey webhookid arrival recordedtime recordedat sequence binding log sendersequence
  database64 dataref 1 0 constructor tostring time subject`.split(/\s+/);

const LOG = { recordedAt: '2018-02-03T00:00:00Z', arrival: {} };

describe('an archive', () => {
  it.each<[string, GivenArrival]>([
    ['numbers with many digits', { payload: { mediaType: 'a/b', json: '[12345678901234567890.10,1e400,-0,1E+2]' } }],
    ['a member _log in its data', { payload: { mediaType: 'a/b', json: '{"_log":{"arrival":"]}"},"_log":1}' } }],
    [
      'a trace context beside attributes of 8,192 bytes',
      {
        headers: { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`, tracestate: `a=${'x'.repeat(250)}` },
        attributes: senderAttributes({ ...REQUIRED, x: 'x'.repeat(8192 - JSON.stringify(REQUIRED).length - 7) }),
      },
    ],
    ...['idempotency-key', 'webhook-id'].map((name): [string, GivenArrival] => [
      `a ${name} of another source`,
      { headers: { [name]: 'k\u00ff' }, attributes: senderAttributes({ ...REQUIRED, source: '/other' }) },
    ]),
    [
      'a time with many digits',
      { attributes: senderAttributes({ ...REQUIRED, time: '1990-12-31T15:59:60.123456789012-08:00' }) },
    ],
  ])('keeps an event with %s as it is', (_what, given) => {
    const event = make(given);
    const line = ArchiveLine.of({ ...event, position: 7 });
    expect(read(line)).toEqual(event);
  });

  it('keeps keys that are about a source, a scope and a caller or data', () => {
    const event = new EventFactory({ source: '/service' }, undefined, ['delivery']).make(
      ...arrivalOf({
        headers: { 'idempotency-key': 'k', delivery: 'd' },
        keyScope: '/orders',
        attributes: senderAttributes(REQUIRED),
      }),
    );
    for (const key of ['idempotencyKey', 'webhookId'] as const) {
      const apart = EventFactory.withOwnKey(event, { key, differs: 'caller' }) as NewEvent;
      expect(apart[key]).not.toBe(event[key]);
      for (const each of [event, apart]) expect(read(ArchiveLine.of({ ...each, position: 7 }))).toEqual(each);
    }
  });

  it('takes an empty key for none, so that no event repeats another by it', () => {
    const line = ArchiveLine.of({ ...make({}), position: 1 });
    for (const name of ['idempotencyKey', 'webhookId'] as const) {
      const withEmptyKey = line.replace('"_log":{', `"_log":{"${name}":"",`);
      expect(withEmptyKey).not.toBe(line);
      expect(read(withEmptyKey)[name]).toBeUndefined();
    }
  });

  it('keeps whatever senders put in', () => {
    const text = fc.oneof(fc.string({ unit: anyCharacter }), fc.string({ unit: 'grapheme' }));
    const headerValue = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((c) => String.fromCharCode(c)) });
    const value = fc.oneof(text, fc.boolean(), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
    const name = fc.oneof(fc.constantFrom(...HOSTILE_NAMES), fc.stringMatching(/^[a-z\d]{1,20}$/));
    const attributes = fc.tuple(fc.dictionary(name, value), fc.uuid()).map(([extensions, id]) => {
      try {
        return senderAttributes({ ...extensions, ...REQUIRED, id });
      } catch {
        return undefined;
      }
    });
    const json = fc.tuple(fc.json(), fc.constantFrom('', ' ', '\r\n', '\t')).map(([all, space]) => space + all + space);
    const mediaType = fc.oneof(fc.constantFrom(undefined, 'text/plain', 'garbage'), headerValue);
    const payload = fc.oneof(
      fc.record({ mediaType, json }),
      fc.record({ mediaType, text }),
      fc.record({ mediaType, bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes)) }),
      fc.constant(undefined),
    );
    const headers = fc.dictionary(
      fc.oneof(fc.constantFrom('user-agent', 'x-log', '_log'), fc.stringMatching(/^[a-z-]{1,9}$/)),
      headerValue,
    );
    const key = fc.option(headerValue, { nil: undefined });
    const arrival = fc
      .tuple(fc.record({ attributes, payload, headers, target: headerValue }), key, key)
      .map(([given, idempotencyKey, webhookId]) => ({
        ...given,
        headers: { ...given.headers, 'idempotency-key': idempotencyKey, 'webhook-id': webhookId },
      }));
    fc.assert(
      fc.property(arrival, (given) => {
        const event = make(given);
        const line = ArchiveLine.of({ ...event, position: 7 });
        expect(line).not.toMatch(/\n/);
        expect(read(line)).toEqual(event);
      }),
    );
  });

  it('writes the members of an event as the log keeps them, however they are written in the line', () => {
    const line = JSON.stringify({ ...REQUIRED, data: 'A/8=', x: null, _log: LOG })
      .replace('/8=', '\\/8\\u003d')
      .replace('"data"', ' "d\\u0061ta_base64" ')
      .replace('"type"', `${' '.repeat(50_000)}"t\\u0079pe"`);
    const { attributes, data } = read(line);
    expect([attributes, data]).toEqual([JSON.stringify(REQUIRED), '"data_base64":"A/8="']);
  });

  it('reads a line that another program wrote anew, with white space around each value', () => {
    const event = make({ payload: { mediaType: 'application/json', json: '{"a":1}' } });
    const line = ArchiveLine.of({ ...event, position: 7 }).replaceAll('":', '":\t');
    const { data, arrival, ...others } = read(line);
    expect(StoredEvent.problemOf({ ...others, data, arrival })).toBeUndefined();
    expect(data).not.toContain('\t');
    expect([JSON.parse(`{${String(data)}}`), arrival[0]]).toEqual([{ data: { a: 1 } }, '{']);
  });

  it('reads a CloudEvent of another origin as one that a sender sent', () => {
    const line = JSON.stringify({ ...REQUIRED, sequence: '7', binding: 'amqp', idempotencykey: 'k', data: [1] });
    const before = Date.now();
    const { attributes, recordedAt, ...event } = read(` ${line}\r`);
    expect(recordedAt).toBeGreaterThanOrEqual(before);
    const renamed = { ...REQUIRED, sendersequence: '7', senderbinding: 'amqp', idempotencykey: 'k' };
    expect(JSON.parse(attributes)).toEqual(renamed);
    expect(event).toEqual({ id: 'e-1', source: '/orders', data: '"data":[1]', arrival: '{}' });
  });

  it.each<[object, string]>([
    [{ _log: 'x' }, 'The member _log is not a JSON object, or has a member twice.'],
    [{ _log: { ...LOG, '\\u0061rrival': {} } }, 'The member _log is not a JSON object, or has a member twice.'],
    [{ _log: LOG, '\\u0069d': 'e-2' }, 'The CloudEvent is not a JSON object, or has a member twice.'],
    [{ _log: {} }, 'The member recordedAt in _log must be a time as in RFC 3339.'],
    [{ _log: { ...LOG, recordedAt: '2018-02-30T00:00:00Z' } }, 'recordedAt in _log must be a time'],
    [{ _log: { ...LOG, arrival: undefined } }, 'The member arrival is not a JSON object'],
    [{ _log: { ...LOG, webhookId: 1 } }, 'webhookId in _log must be a string'],
    [{ _log: { ...LOG, idempotencyKey: 'k\0' } }, 'idempotencyKey in _log must hold only what a header field may hold'],
    [{ _log: { ...LOG, webhookId: 'w\udc00' } }, 'webhookId in _log must hold only what a header field may hold'],
    [{ _log: { ...LOG, later: 1 } }, 'later, which this version does not know'],
    [{ _log: LOG, id: '' }, 'attribute id must not be empty'],
    [{ _log: LOG, data_base64: '*' }, 'must be a base64 string'],
    [{ time: '2018-02-30T00:00:00Z' }, 'attribute time must be a time as in RFC 3339'],
  ])('is refused with %j', (members, problem) => {
    const line = JSON.stringify({ ...REQUIRED, ...members }).replace('\\\\', '\\');
    expect(() => read(line)).toThrow(problem);
  });
});
