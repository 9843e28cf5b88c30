import { Arrival } from '../../src/events/arrival';
import { SentEvent } from '../../src/events/cloudevents/sent-event';
import { EventFactory, type RecordedCall } from '../../src/events/event';
import { Sender } from '../../src/senders/sender';
import { Secrets } from '../../src/util/secrets';
import { arrivalOf, type GivenArrival } from '../support/arrival';

const SECRET = 'a-secret-of-the-service';
let factory: EventFactory;
beforeEach(() => {
  factory = new EventFactory({ source: '/source', type: 'test.type' }, new Secrets([SECRET]), ['x-id', 'x-other']);
});

describe('an event', () => {
  it('keeps how it arrived, without what may be a secret', () => {
    const headers = { host: 'x', 'user-agent': 'curl', 'idempotency-key': 'k' };
    const event = factory.make(...arrivalOf({ headers: { ...headers, cookie: 's', 'x-api-key': 's' } }));
    const address = { method: 'POST', path: '/x?y=1', remoteAddress: '192.0.2.1' };
    expect(JSON.parse(event.arrival)).toEqual({ ...address, headers });
    expect(event.attributes).not.toContain('192.0.2.1');
  });

  it('has a UUID version 7 of its time, and no two have the same', () => {
    const made = Array.from({ length: 1000 }, () => factory.make(...arrivalOf({ headers: {} })));
    for (const { id, recordedAt } of made) {
      const [time = '', rest] = id.split(/-7(?=[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$)/);
      expect([parseInt(time.replace('-', ''), 16), rest?.length]).toEqual([recordedAt, 21]);
    }
    expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
  });

  it('has the key and the type in a signed body, however long that is and whatever its content type', () => {
    const sender = Sender.all.find(({ name }) => name === 'Stripe');
    if (sender === undefined) throw new Error('Stripe is not known.');
    factory = new EventFactory({ source: '/source' });
    for (const long of ['1', `[${'1,'.repeat(100_000)}1]`, `"${'x'.repeat(2_000_000)}"`]) {
      const text = `{"data":${long},"id":"evt_1","type":"charge.failed"}`;
      const caller = { signedBy: { sender, secret: 's', body: Buffer.from(text) } };
      const made = factory.make(...arrivalOf({ payload: { mediaType: 'text/plain', text }, caller }));
      expect(JSON.parse(made.attributes)).toMatchObject({ type: 'com.stripe.charge.failed' });
      expect(made.webhookId).toBe('signed stripe-event\nevt_1');
    }
    const headers = { 'x-github-delivery': '1', 'x-github-event': 'push' };
    const caller = { signedBy: { sender, secret: 's', body: Buffer.from('{"id":"evt_1"}') } };
    const attributes = expect.stringContaining('"type":"webhook.recorded"') as string;
    const made = { attributes, webhookId: 'signed stripe-event\nevt_1' };
    expect(factory.make(...arrivalOf({ headers, caller }))).toMatchObject(made);
  });

  it.each([
    ['a/b; c="\u00e9"', 'a/b; c="\u00e9"'],
    [`a/b;${'c'.repeat(249)}=d`, `a/b;${'c'.repeat(249)}=d`],
    [`a/b;${'c'.repeat(250)}=d`, undefined],
    ['garbage', undefined],
    ['a/b;\tc=d', undefined],
    ['a/b; c="\\\u0085"', undefined],
    [undefined, undefined],
  ])('with the content type %j has the datacontenttype %j, and can be sent back', (mediaType, expected) => {
    const { attributes } = factory.make(...arrivalOf({ payload: { mediaType, text: '' } }));
    expect((JSON.parse(attributes) as { readonly datacontenttype?: string }).datacontenttype).toBe(expected);
    expect(SentEvent.batched(`[${attributes}]`)).toHaveLength(1);
  });

  const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const OTHER = '00-11111111111111111111111111111111-2222222222222222-00';
  const sent = { specversion: '1.0', id: 'e-1', source: '/s', type: 't' };
  const made = (given: GivenArrival) =>
    JSON.parse(factory.make(...arrivalOf(given)).attributes) as Record<string, unknown>;

  it('keeps what its sender said of it, and the binding beside a binding of the sender', () => {
    const given = { ...sent, time: '2026-01-02T03:04:05Z', subject: 's', datacontenttype: 'a/b', binding: 'x', n: 3 };
    const event = factory.make(...arrivalOf({ attributes: given }));
    expect([event.id, event.source]).toEqual(['e-1', '/s']);
    expect(event.attributes).toBe(
      '{"specversion":"1.0","id":"e-1","source":"/s","type":"t","time":"2026-01-02T03:04:05Z","binding":"httppost",' +
        '"datacontenttype":"a/b","subject":"s","senderbinding":"x","n":3}',
    );
    expect(event.data).toBeUndefined();
  });

  it('of a sender that gave no time has the time of its arrival, and the content type of its payload', () => {
    jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 0, 2, 3, 4, 5, 6));
    const payload = { mediaType: 'c/d', text: '' };
    const attributes = { ...sent, datacontenttype: 'a/b' };
    expect(made({ attributes, payload })).toEqual({
      ...attributes,
      datacontenttype: 'c/d',
      time: '2026-01-02T03:04:05.006Z',
      binding: 'httppost',
    });
    expect(made({ attributes: sent })).not.toHaveProperty('datacontenttype');
  });

  it('has the trace context of its request, unless its sender traced it', () => {
    const headers = { traceparent: TRACE, tracestate: 'a=1' };
    const traceOf = (given: GivenArrival) => {
      const { traceparent, tracestate } = made({ headers, ...given });
      return [traceparent, tracestate];
    };
    expect(traceOf({})).toEqual([TRACE, 'a=1']);
    expect(traceOf({ attributes: sent })).toEqual([TRACE, 'a=1']);
    expect(traceOf({ attributes: { ...sent, traceparent: OTHER } })).toEqual([OTHER, undefined]);
    expect(traceOf({ attributes: { ...sent, tracestate: 'b=2' } })).toEqual([undefined, 'b=2']);
  });

  it.each<[RecordedCall['headers'], string | undefined, string | undefined]>([
    [{}, undefined, undefined],
    [{ 'idempotency-key': ['a', 'b'], 'webhook-id': ['c', 'd'] }, 'a, b', 'c, d'],
    [{ 'idempotency-key': '', 'webhook-id': '' }, undefined, undefined],
    [{ 'x-github-delivery': 'd', 'webhook-id': 'w' }, undefined, 'x-github-delivery\nd'],
    [{ 'x-id': 'a', 'x-other': 'b' }, undefined, 'x-id\na'],
    [{ 'x-id': '', 'x-other': 'b' }, undefined, 'x-other\nb'],
    [{ 'idempotency-key': SECRET, 'x-id': `a ${SECRET}` }, '***', 'x-id\na ***'],
  ])('of a request with %j has the keys %j and %j', (headers, idempotencyKey, webhookId) => {
    expect(factory.make(...arrivalOf({ headers }))).toMatchObject({ idempotencyKey, webhookId });
  });

  it('has keys that are about its source and its place', () => {
    const headers = { 'idempotency-key': 'k', 'x-id': 'd' };
    const event = factory.make(...arrivalOf({ headers, keyScope: 'POST /a', attributes: sent }));
    expect([event.idempotencyKey, event.webhookId]).toEqual(['/s\nPOST /a\nk', 'x-id\n/s\nPOST /a\nd']);
    const caller = { signedBy: { sender: Sender.all[0] as Sender, secret: 's', body: Buffer.from('{}') } };
    const signed = factory.make(...arrivalOf({ headers: { ...headers, 'webhook-id': 'w' }, caller }));
    expect([signed.idempotencyKey, signed.webhookId]).toEqual([undefined, 'signed x-id\nd']);
  });

  it.each([
    [Buffer.from('Müller').toString('latin1'), 'Müller'],
    ['M\xfcller', 'Müller'],
    ['本', '本'],
  ])('has the header field %j shown as %s', (value, shown) => {
    const { headers } = Arrival.of({ arrival: JSON.stringify({ headers: { x: value } }) });
    expect(Arrival.readable(headers)).toEqual([['x', shown]]);
  });

  it.each(['null', '[1]', '{"a":[]}'])('has no header fields where an import brought %s', (headers) => {
    expect(Arrival.of({ arrival: `{"headers":${headers}}` }).headers).toEqual([]);
  });

  it('has no secret of the service in its id and its source, nor in how it arrived', () => {
    const attributes = { ...sent, id: `1-${SECRET}`, source: `/${SECRET}` };
    const event = factory.make(...arrivalOf({ attributes, target: `/${SECRET}`, headers: { 'x-a': SECRET } }));
    expect([event.id, event.source]).toEqual(['1-***', '/***']);
    expect(JSON.stringify(event)).not.toContain(SECRET);
  });
});
