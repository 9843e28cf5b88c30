import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { create } from 'xmlbuilder2';
import { send } from '../support/http';
import { samplesOn } from '../support/page';
import { startService, type TestService } from '../support/service';
import { describeWith } from '../support/tools';

const run = promisify(execFile);

const RECORD_KEY = 'record-key-0123456789';
const READ_KEY = 'read-key-0123456789abc';

describeWith({ curl: 'curl', bash: 'bash' }, 'the curl lines on the pages', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({
      SERVICE_NAMESPACE: "urn:it's",
      RECORD_KEYS: RECORD_KEY,
      READ_KEYS: READ_KEY,
    });
  });
  afterAll(() => service.stop());

  const lineOn = async (operation: string, binding: string): Promise<string> => {
    const { body } = await send(`${service.url}?op=${operation}`);
    return `${samplesOn(body, binding).curl} --silent --show-error --fail`;
  };
  const resultOf = async (line: string) => create((await run('bash', ['-c', line])).stdout).root().node.textContent;

  it.each(['SOAP 1.1', 'SOAP 1.2', 'HTTP GET', 'HTTP POST'])('over %s call the operation', async (binding) => {
    expect(await resultOf(await lineOn('HelloWorld', binding))).toBe('Hello World');
  });

  it.each([
    ['SOAP 1.1', `<order xmlns="urn:it's">17</order>`],
    ['SOAP 1.2', `<order xmlns="urn:it's">17</order>`],
    ['HTTP GET', { order: '17' }],
    ['HTTP POST', { order: '17' }],
  ])('over %s record the example and find it, with a key in place of KEY', async (binding, data) => {
    const recordLine = await lineOn('RecordEvent', binding);
    expect(recordLine).toContain('-H "X-API-Key: KEY"');
    const id = await resultOf(recordLine.replace(': KEY', `: ${RECORD_KEY}`));
    const found = await resultOf((await lineOn('GetEvents', binding)).replace(': KEY', `: ${READ_KEY}`));
    expect(JSON.parse(found ?? '')).toContainEqual(expect.objectContaining({ id, data }));
  });
});
