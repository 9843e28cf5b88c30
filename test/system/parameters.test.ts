import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEndpoint, type TestEndpoint } from '../support/endpoint';
import { contractWith, OPERATIONS, SERVICE } from '../support/operations-with-parameters';
import { describeWith } from '../support/tools';

const run = promisify(execFile);

let endpoint: TestEndpoint;
beforeAll(async () => {
  endpoint = await startEndpoint(SERVICE, await contractWith(OPERATIONS));
});
afterAll(() => endpoint.stop());

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
          'Server was unable to read request. ---> Missing parameter: article.',
        ].map((line) => `${port}\t${line}`),
      ),
    );
  });
});
