import { traceAttributes } from '../../../src/events/cloudevents/syntax';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const LATER = `01${TRACE.slice(2)}-`;

const members = (count: number, value = '1') =>
  Array.from({ length: count }, (_, i) => `k${String(i)}=${value}`).join(',');

describe('the trace context of a request', () => {
  it.each([
    TRACE,
    TRACE.replace('00-', 'cc-'),
    `fe${TRACE.slice(2)}`,
    `${LATER}`,
    `${LATER}more-!~`,
    LATER + 'x'.repeat(255 - LATER.length),
  ])('is taken from traceparent: %s', (traceparent) => {
    expect(traceAttributes({ traceparent })).toEqual({ traceparent });
  });

  it.each([
    undefined,
    ['a', 'b'],
    '',
    'x',
    ` ${TRACE}`,
    `${TRACE} `,
    TRACE.toUpperCase(),
    TRACE.slice(1),
    TRACE.slice(0, -1),
    `${TRACE}0`,
    `${TRACE}-`,
    `${TRACE}-00`,
    `ff${TRACE.slice(2)}`,
    TRACE.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)),
    TRACE.replace('b7ad6b7169203331', '0'.repeat(16)),
    `${LATER}a b`,
    `${LATER}é`,
    LATER + 'x'.repeat(256 - LATER.length),
  ])('is left out if traceparent is not valid: %s', (traceparent) => {
    expect(traceAttributes({ traceparent, tracestate: 'a=1' })).toBeUndefined();
  });

  it.each([
    'a=1',
    'a=1,b=2',
    'a=1 , b=2',
    'congo=t61rcWkgMzE, rojo@vendor=00f067aa0ba902b7',
    ',a=1, ,',
    'a0_-*/=1',
    `${'k'.repeat(256)}=1`,
    `0${'t'.repeat(240)}@v${'x'.repeat(13)}=1`,
    `a=${'x'.repeat(256)}`,
    'a= x',
    'a=!"#$%&\'()*+-./:;<>?@[\\]^_`{|}~',
    'a=A',
    members(32),
    members(2, 'x'.repeat(252)),
  ])('takes tracestate along: %s', (tracestate) => {
    expect(traceAttributes({ traceparent: TRACE, tracestate })).toEqual({ traceparent: TRACE, tracestate });
  });

  it.each([
    undefined,
    ['a=1', 'b=2'],
    '',
    ' , ',
    'a',
    'a=',
    '=1',
    'A=1',
    'aB=1',
    '0=1',
    'a=1,B=2',
    'A=1,b=2',
    'a=b=c',
    'a=é',
    'a=\t1',
    'a b=1',
    'é=1',
    `${'k'.repeat(257)}=1`,
    `0${'t'.repeat(241)}@v=1`,
    `0t@v${'x'.repeat(14)}=1`,
    '0t@V=1',
    `a=${'x'.repeat(257)}`,
    members(33),
    members(32, 'x'.repeat(20)),
    `a=1${','.repeat(510)}`,
  ])('leaves out tracestate that is not valid: %s', (tracestate) => {
    expect(traceAttributes({ traceparent: TRACE, tracestate })).toEqual({ traceparent: TRACE });
  });

  it('has a tracestate of at most 512 characters', () => {
    const tracestate = `a=1${','.repeat(509)}`;
    expect(tracestate).toHaveLength(512);
    expect(traceAttributes({ traceparent: TRACE, tracestate })).toEqual({ traceparent: TRACE, tracestate });
  });
});
