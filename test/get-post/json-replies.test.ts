import { callOperation, requestOf, type BindingName } from '../support/bindings';
import { send, type Answer } from '../support/http';
import { startService, type TestService } from '../support/service';

const BATCH = 'application/cloudevents-batch+json';

describe('a caller over HTTP GET or POST', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    for (let i = 0; i < 20; i++) await callOperation(service.url, 'httpget', `RecordEvent?<&>=${String(i)}&`);
  });
  afterAll(() => service.stop());

  const call = (binding: BindingName, operation: string, headers: Record<string, string>): Promise<Answer> => {
    const { path, ...question } = requestOf(binding, operation);
    return send(service.url + path, { ...question, headers: { ...question.headers, ...headers } });
  };

  describe.each(['httppost'] as const)('%s', (binding) => {
    it('with Accept: application/json gets the result as a JSON string', async () => {
      for (const operation of ['HelloWorld', 'RecordEvent']) {
        const { status, headers, body } = await call(binding, operation, { Accept: 'application/json' });
        expect([status, headers['content-type']]).toEqual([200, 'application/json']);
        expect(headers['x-content-type-options']).toBe('nosniff');
        expect(JSON.parse(body)).toMatch(operation === 'HelloWorld' ? /^Hello World$/ : /^[\da-f-]{36}$/);
      }
    });

    it.each(['application/json', BATCH])('with Accept: %s gets the bare array of GetEvents', async (accept) => {
      const { status, headers, body } = await call(binding, 'GetEvents', { Accept: accept });
      expect([status, headers['content-type']]).toEqual([200, accept]);
      expect(body).toBe(await callOperation(service.url, binding, 'GetEvents'));
      expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
    });

    it.each([
      {
        what: 'the operation is unknown',
        operation: 'Nope',
        status: 500,
        detail: 'Nope Web Service method name is not valid.',
      },
      {
        what: 'the case of the operation is wrong',
        operation: 'helloworld',
        status: 500,
        detail: expect.stringContaining("'HelloWorld' with the same") as string,
      },
      {
        what: 'a parameter is not valid',
        operation: 'GetEvents?limit=0&',
        status: 400,
        detail: 'The parameter limit must be a whole number from 1 to 100.',
      },
    ])('gets application/problem+json if $what', async ({ operation, status, detail }) => {
      for (const accept of ['application/json', BATCH, 'application/problem+json, text/xml;q=0.1']) {
        const answer = await call(binding, operation, { Accept: accept });
        expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/problem+json']);
        expect(answer.headers.vary).toBe('Accept, Accept-Encoding');
        const title = status === 400 ? 'Bad Request' : 'Internal Server Error';
        expect(JSON.parse(answer.body)).toEqual({ type: 'about:blank', title, status, detail });
      }
    });
  });

  describe('over either', () => {
    const binding = 'httpget';

    it.each([
      'application/json; charset=utf-8',
      'APPLICATION/JSON;odata=verbose',
      'application/json;charset="a, b";q=0.1',
      'text/html, application/json',
      'application/json, */*;q=0',
    ])('gets JSON with Accept: %s', async (accept) => {
      expect((await call(binding, 'HelloWorld', { Accept: accept })).headers['content-type']).toBe('application/json');
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
      'application/json;q=0',
      'application/jsonp',
      BATCH,
      '',
      'nonsense',
    ])('gets the same XML as without Accept with Accept: %s', async (accept) => {
      const plain = await call(binding, 'HelloWorld', {});
      const answer = await call(binding, 'HelloWorld', { Accept: accept });
      expect([answer.status, answer.headers['content-type'], answer.body]).toEqual([
        200,
        'text/xml; charset=utf-8',
        plain.body,
      ]);
    });

    it('gets errors as text where XML will do', async () => {
      const answer = await call(binding, 'Nope', { Accept: 'application/json, text/plain, */*' });
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(answer.body).toBe('Nope Web Service method name is not valid.\n');
    });
  });

  it('sees in Vary that replies depend on Accept and Accept-Encoding, whatever the reply', async () => {
    const fields: Record<string, string>[] = [{}, { Accept: 'application/json' }, { 'Accept-Encoding': 'gzip' }];
    for (const headers of fields) {
      for (const operation of ['HelloWorld', 'GetEvents', 'Nope', 'GetEvents?after=x&']) {
        expect((await call('httpget', operation, headers)).headers.vary).toBe('Accept, Accept-Encoding');
      }
    }
    const refused = await send(`${service.url}/HelloWorld`, { method: 'PUT', headers: { Accept: 'application/json' } });
    expect(refused.headers).toMatchObject({
      vary: 'Accept, Accept-Encoding',
      'content-type': 'application/problem+json',
    });
    expect(JSON.parse(refused.body)).toMatchObject({ status: 405, title: 'Method Not Allowed' });
  });

  it('over SOAP gets an envelope whatever it accepts', async () => {
    const answer = await call('soap12', 'HelloWorld', { Accept: 'application/json' });
    expect(answer.headers['content-type']).toBe('application/soap+xml; charset=utf-8');
  });

  it.each<[Record<string, string>, Record<string, string>]>([
    [{ RECORD_KEYS: 'k'.repeat(20) }, {}],
    [{ RATE_LIMIT: '1/1h' }, {}],
  ])('gets refusals of %j as a problem', async (variables, headers) => {
    const guarded = await startService(variables);
    const question = { headers: { Accept: 'application/json', ...headers } };
    await send(`${guarded.url}/RecordEvent`, question);
    const { status, headers: fields, body } = await send(`${guarded.url}/RecordEvent`, question);
    expect(fields['content-type']).toBe('application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ status });
    await guarded.stop();
  });
});
