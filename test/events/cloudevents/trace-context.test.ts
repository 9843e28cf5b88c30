import { traceAttributes } from '../../../src/events/cloudevents/attributes';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const LATER = `01${TRACE.slice(2)}-`;

describe('the trace context of a request', () => {
  it.each([TRACE, TRACE.replace('00-', 'cc-'), `${LATER}more-!~`, LATER + 'x'.repeat(255 - LATER.length)])(
    'is taken from traceparent: %s',
    (traceparent) => {
      expect(traceAttributes({ traceparent })).toEqual({ traceparent });
    },
  );

  it.each([
    undefined,
    ['a', 'b'],
    `${TRACE} `,
    TRACE.toUpperCase(),
    TRACE.slice(0, -1),
    `${TRACE}0`,
    `${TRACE}-00`,
    `ff${TRACE.slice(2)}`,
    TRACE.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)),
    TRACE.replace('b7ad6b7169203331', '0'.repeat(16)),
    `${LATER}a b`,
    LATER + 'x'.repeat(256 - LATER.length),
  ])('is left out if traceparent is not valid: %s', (traceparent) => {
    expect(traceAttributes({ traceparent, tracestate: 'a=1' })).toBeUndefined();
  });

  it.each(['a=1', 'congo=t61rcWkgMzE, rojo@vendor=00f067aa0ba902b7', `a=${'x'.repeat(510)}`])(
    'takes tracestate along: %s',
    (tracestate) => {
      expect(traceAttributes({ traceparent: TRACE, tracestate })).toEqual({ traceparent: TRACE, tracestate });
    },
  );

  it.each([undefined, ['a=1', 'b=2'], '', 'a=é', 'a=\t1', `a=${'x'.repeat(511)}`])(
    'leaves out tracestate that is not valid: %s',
    (tracestate) => {
      expect(traceAttributes({ traceparent: TRACE, tracestate })).toEqual({ traceparent: TRACE });
    },
  );
});
