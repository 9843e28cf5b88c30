import { ask, callOperation, type BindingName } from '../support/bindings';
import { send } from '../support/http';
import { useService } from '../support/service';

const BATCH = 'application/cloudevents-batch+json';
const PROBLEM = 'application/problem+json';

describe('a caller over HTTP GET or POST', () => {
  const service = useService();
  beforeAll(async () => {
    for (let i = 0; i < 20; i++) await callOperation(service.url, 'httpget', `RecordEvent?<&>=${String(i)}&`);
  });

  const call = (operation: string, Accept?: string, binding: BindingName = 'httpget') =>
    ask(service.url, binding, operation, { headers: Accept === undefined ? {} : { Accept } });

  it('with Accept: application/json gets the result as a JSON string', async () => {
    for (const [operation, result] of [
      ['HelloWorld', /^Hello World$/],
      ['RecordEvent', /^[\da-f-]{36}$/],
    ] as const) {
      const { status, headers, body } = await call(operation, 'application/json', 'httppost');
      expect([status, headers['content-type']]).toEqual([200, 'application/json']);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(JSON.parse(body)).toMatch(result);
    }
  });

  const each = ['application/json', BATCH, `application/json;q=0.5, ${BATCH}`];
  it.each(each)('with Accept: %s gets the bare array of GetEvents', async (accept) => {
    const { status, headers, body } = await call('GetEvents', accept, 'httppost');
    expect([status, headers['content-type']]).toEqual([200, accept.split(' ').at(-1)]);
    expect(body).toBe(await callOperation(service.url, 'httppost', 'GetEvents'));
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
  });

  it.each([
    ['Nope', 500, 'Internal Server Error', 'Nope Web Service method name is not valid.'],
    ['helloworld', 500, 'Internal Server Error', expect.stringContaining("'HelloWorld' with the same") as string],
    ['GetEvents?limit=0&', 400, 'Bad Request', 'The parameter limit must be a whole number from 1 to 100.'],
  ])('gets a problem for %s', async (operation, status, title, detail) => {
    for (const accept of ['application/json', BATCH, `${PROBLEM}, text/xml;q=0.1`]) {
      const answer = await call(operation, accept, 'httppost');
      expect([answer.status, answer.headers['content-type']]).toEqual([status, PROBLEM]);
      expect(JSON.parse(answer.body)).toEqual({ type: 'about:blank', title, status, detail });
    }
  });

  it.each([
    'application/json; charset=utf-8',
    'APPLICATION/JSON;odata=verbose',
    'application/json;charset="a, b";q=0.1',
    'text/html, application/json',
    'application/json, */*;q=0',
  ])('gets JSON with Accept: %s', async (accept) => {
    expect((await call('HelloWorld', accept)).headers['content-type']).toBe('application/json');
  });

  it.each([
    '*/*',
    'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
    'text/*, application/json',
    'application/xml, application/json',
    'application/*, application/json',
    'text/xml; charset=utf-8;q=0.8, application/json;q=0.9',
    // What clients send by default: axios and AngularJS, Spring's RestTemplate, RestSharp, jQuery.
    'application/json, text/plain, */*',
    'application/json, text/json, text/x-json, text/javascript, application/xml, text/xml',
    'application/json, text/javascript, */*; q=0.01',
    ...['application/json;q=0', 'application/jsonp', BATCH, '', 'nonsense'],
  ])('gets the same XML as without Accept with Accept: %s, and errors as text', async (accept) => {
    const [plain, answer] = [await call('HelloWorld'), await call('HelloWorld', accept)];
    const type = answer.headers['content-type'];
    expect([answer.status, type, answer.body]).toEqual([200, 'text/xml; charset=utf-8', plain.body]);
    if (accept.startsWith(BATCH)) return;
    const { headers, body } = await call('Nope', accept);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(body).toBe('Nope Web Service method name is not valid.\n');
  });

  it('sees in Vary that replies depend on Accept and Accept-Encoding, whatever the reply', async () => {
    const vary = 'Accept, Accept-Encoding';
    for (const headers of [{}, { Accept: 'application/json' }, { 'Accept-Encoding': 'gzip' }])
      for (const operation of ['HelloWorld', 'GetEvents', 'Nope', 'GetEvents?after=x&'])
        expect((await ask(service.url, 'httpget', operation, { headers })).headers.vary).toBe(vary);
    const refused = await send(`${service.url}/HelloWorld`, { method: 'PUT', headers: { Accept: 'application/json' } });
    expect(refused.headers).toMatchObject({ vary, 'content-type': PROBLEM });
    expect(JSON.parse(refused.body)).toMatchObject({ status: 405, title: 'Method Not Allowed' });
  });
});
