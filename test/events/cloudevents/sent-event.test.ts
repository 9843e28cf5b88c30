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
