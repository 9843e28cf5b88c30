import { KeyConflict } from '../../src/events/key-conflict';
import type { NewEvent } from '../../src/events/stored-event';
import { newEvent } from '../support/events';

const typed = (type: string, more: object = {}) => ({ attributes: JSON.stringify({ type, ...more }) });
const from = (caller: object) => ({
  arrival: JSON.stringify({ method: 'POST', ...caller, headers: { 'x-hook': '1' } }),
});
const data = (order: number) => ({ data: `"data":{"order":${String(order)}}` });
const signed = from({ signedBy: 'GitHub', signedWith: 'a', signedBody: 'x' });
/** As 1.1.0 recorded it. */
const signedBefore = from({ signedBy: 'GitHub' });

type Given = Partial<NewEvent>;

describe.each(['idempotencyKey', 'webhookId'] as const)('an event with the %s of another', (key) => {
  it.each<[what: string, first: Given, event: Given, differs: KeyConflict['differs'] | undefined]>([
    ['other data', data(1), data(2), 'data'],
    ['no data', data(1), {}, 'data'],
    ['another type', typed('a'), typed('b'), 'data'],
    [
      'another time, trace and binding',
      typed('a'),
      typed('a', { time: 'x', traceparent: 'x', binding: 'x' }),
      undefined,
    ],
    ['another path', from({ path: '/a' }), from({ path: '/b', remoteAddress: '::1' }), undefined],
    ['the name of another key', from({ keyName: 'a' }), from({ keyName: 'b' }), 'caller'],
    ['no name of a key', from({ keyName: 'a' }), from({}), 'caller'],
    ['no signature', signed, from({}), 'caller'],
    ['another secret', signed, from({ signedWith: 'b', signedBody: 'x' }), 'caller'],
    ['another signed body', signed, from({ signedWith: 'a', signedBody: 'y' }), 'data'],
    ['the same signed body, read as other data', { ...signed, ...data(1) }, { ...signed, ...data(2) }, undefined],
    ['a signature where 1.1.0 named no secret', signedBefore, signed, undefined],
    ['other data than 1.1.0 recorded', { ...signedBefore, ...data(1) }, { ...signed, ...data(2) }, 'data'],
    [
      'another type than 1.1.0 gave what was signed',
      { ...signedBefore, ...typed('a') },
      { ...signed, ...typed('b') },
      undefined,
    ],
  ])('and %s', (_what, first, event, differs) => {
    expect(KeyConflict.between(key, newEvent(event), newEvent(first))).toEqual(differs && { key, differs });
  });
});
