import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Contract } from '../../src/contract/contract';
import { BINDINGS, NAMESPACE } from '../support/bindings';
import { startEndpoint, type TestEndpoint } from '../support/endpoint';
import { requestWith, SERVICE, WSDL_FOLDER, type Given } from '../support/operations-with-parameters';
import { describeWith } from '../support/tools';
import { parsedText } from '../support/xml';

const run = promisify(execFile);

let endpoint: TestEndpoint;
beforeAll(async () => {
  endpoint = await startEndpoint(SERVICE, await Contract.load(NAMESPACE, undefined, WSDL_FOLDER));
});
afterAll(() => endpoint.stop());

describeWith({ curl: 'curl' }, 'curl', () => {
  const curl = async (...options: readonly string[]): Promise<string> =>
    (await run('curl', ['--silent', '--show-error', ...options])).stdout;

  describe.each(BINDINGS)('over %s', (binding) => {
    const call = async (operation: string, given: Given): Promise<string> => {
      const { path, method = 'GET', headers = {}, body } = requestWith(binding, operation, given);
      const fields = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
      const data = body === undefined ? [] : ['--data-binary', String(body)];
      return curl('--request', method, ...fields, ...data, endpoint.url + path);
    };

    it('adds two numbers', async () => {
      expect(
        parsedText(
          await call('Add', [
            ['a', '2'],
            ['b', '3'],
          ]),
        ),
      ).toBe('5');
    });

    it('sends a text outside ASCII', async () => {
      const given: Given = [
        ['person', 'Zoë <b>'],
        ['at', '2026-01-02T03:04:05Z'],
      ];
      expect(parsedText(await call('Remind', given))).toBe("{ person: 'Zoë <b>', at: 2026-01-02T03:04:05.000Z }");
    });

    it('learns what is wrong', async () => {
      expect(
        await call('Add', [
          ['a', 'two'],
          ['b', '3'],
        ]),
      ).toContain('Cannot convert two to System.Int32.');
      expect(await call('Order', [['size', 'large']])).toContain('Missing parameter: article.');
    });
  });

  it('sends JSON, also where it says that it is a form', async () => {
    const json = '{"a": 2, "b": 3}';
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      const answer = await curl('--header', `Content-Type: ${type}`, '--data', json, `${endpoint.url}/Add`);
      expect(parsedText(answer)).toBe('5');
    }
  });
});

const ZEEP = { '/usr/lib/python3/dist-packages/zeep/__init__.py': 'python3-zeep' };
describeWith(ZEEP, 'Python zeep', () => {
  it.each(['?WSDL', '?WSDL=extended'])('calls the operations with a client made from %s', async (wsdl) => {
    const script = join(__dirname, 'parameters.py');
    const { stdout } = await run('/usr/bin/python3', [script, endpoint.url + wsdl]);
    expect(stdout.trim().split('\n')).toEqual(
      ['WebHookSoap', 'WebHookSoap12'].flatMap((port) =>
        [
          '5',
          "{ person: 'Zoë <b> ', at: 2026-01-02T03:04:05.000Z }",
          "{ article: 'AB-123', size: 'large', quantity: 7, note: undefined, price: '1.5', gift: true, customer: 9007199254740993n }",
          'Server was unable to read request. ---> Cannot convert Large to System.String.',
          'Server was unable to read request. ---> Missing parameter: article.',
        ].map((line) => `${port}\t${line}`),
      ),
    );
  });
});
