import { SentEvent } from '../../../src/events/cloudevents/sent-event';

const REQUIRED = { specversion: '1.0', id: 'e-1', source: '/orders', type: 'order.placed' };
const NOT_BASE64 = "The CloudEvent's member data_base64 must be a base64 string.";

const withData = (members: string) => SentEvent.read(`${JSON.stringify(REQUIRED).slice(0, -1)},${members}}`);

describe('a CloudEvent in JSON', () => {
  it.each([
    ['"data": 1.0 ', { mediaType: undefined, json: '1.0' }],
    ['"d\\u0061ta":"\\u00e9"', { mediaType: undefined, json: '"\\u00e9"' }],
    ['"data":{ "data" : [ ] }', { mediaType: undefined, json: '{ "data" : [ ] }' }],
    ['"data_base64":"AP8="', { mediaType: undefined, bytes: Buffer.from([0, 255]) }],
    ['"data":1,"data_base64":null', { mediaType: undefined, json: '1' }],
    ['"data_base64":null', undefined],
    ['"subject":null', undefined],
  ])('with %s has the payload %j', (members, payload) => {
    expect(withData(members)).toEqual({ attributes: REQUIRED, payload });
  });

  it.each(['AA==', 'AAA=', 'AAAA', 'ab+/', '0123'])('may have the data_base64 %s', (base64) => {
    expect(withData(`"data_base64":"${base64}"`).payload).toMatchObject({ bytes: Buffer.from(base64, 'base64') });
  });

  it.each([
    ['"data_base64":"A"', NOT_BASE64],
    ['"data_base64":"=AAA"', NOT_BASE64],
    ['"data_base64":"AA=A"', NOT_BASE64],
    ['"data_base64":"?AAA"', NOT_BASE64],
    ['"data_base64":1234', NOT_BASE64],
    ['"data_base64":{"length":4}', NOT_BASE64],
    ['"data_base64":["AAAA"]', NOT_BASE64],
    ['"data":null,"data_base64":"AA=="', 'The CloudEvent has both data and data_base64.'],
    ['"data":1,"data_base64":1', 'The CloudEvent has both data and data_base64.'],
  ])('with %s: %s', (members, problem) => {
    const refusal = expect.objectContaining({ name: 'CloudEventError', message: problem }) as Error;
    expect(() => withData(members)).toThrow(refusal);
  });
});

describe('a batch of CloudEvents in JSON', () => {
  it('becomes its events, in their order, with the data as it was written', () => {
    const first = `{"data" : {"n":12345678901234567890.10, "data":"]},{"} ,${JSON.stringify(REQUIRED).slice(1)}`;
    const second = JSON.stringify({ ...REQUIRED, id: 'e-2', data_base64: 'AP8=' });
    const third = JSON.stringify({ ...REQUIRED, id: 'e-3', subject: 'ä,"[' });
    expect(SentEvent.batched(` [ ${first},\n${second}\t, ${third} ] `)).toEqual([
      { attributes: REQUIRED, payload: { mediaType: undefined, json: '{"n":12345678901234567890.10, "data":"]},{"}' } },
      { attributes: { ...REQUIRED, id: 'e-2' }, payload: { mediaType: undefined, bytes: Buffer.from([0, 255]) } },
      { attributes: { ...REQUIRED, id: 'e-3', subject: 'ä,"[' }, payload: undefined },
    ]);
    expect(SentEvent.batched(' [\n] ')).toEqual([]);
  });

  it('is refused whole for an element that is not an object, which is named', () => {
    const refused = /^Event 2 of the batch: The CloudEvent is not a JSON object/;
    expect(() => SentEvent.batched(JSON.stringify([REQUIRED, [REQUIRED]]))).toThrow(refused);
  });

  it.each([
    ['a single event', JSON.stringify(REQUIRED)],
    ['something other than JSON', '[{]'],
  ])('is refused where it is %s', (_what, json) => {
    expect(() => SentEvent.batched(json)).toThrow('The batch of CloudEvents is not a JSON array.');
  });

  it('is refused with too many events or too many parts, before they are read', () => {
    expect(() => SentEvent.batched(`[${'0,'.repeat(10_000)}0]`)).toThrow(
      'has more than 10000 CloudEvents. Send at most 10000',
    );
    expect(() => SentEvent.batched(`[${'0,'.repeat(9_999)}0]`)).toThrow('Event 1 of the batch');
    const started = performance.now();
    expect(() => SentEvent.batched('['.repeat(4_000_000))).toThrow('more than 300,000 objects, arrays and members');
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
