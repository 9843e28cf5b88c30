import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { eventsOf } from '../support/bindings';
import { send } from '../support/http';
import { samplesOn } from '../support/page';
import { useService } from '../support/service';
import { describeWith } from '../support/tools';
import { parsedText } from '../support/xml';

const run = promisify(execFile);

const RECORD_KEY = 'record-key-0123456789';
const READ_KEY = 'read-key-0123456789abc';

describeWith({ curl: 'curl', bash: 'bash' }, 'the curl lines on the pages', () => {
  const service = useService({ SERVICE_NAMESPACE: "urn:it's", RECORD_KEYS: RECORD_KEY, READ_KEYS: READ_KEY });

  const curl = async (operation: string, binding: string, key = '') => {
    const { body } = await send(`${service.url}?op=${operation}`);
    const line = `${samplesOn(body, binding).curl} --silent --show-error --fail`;
    expect(line.includes('-H "X-API-Key: KEY"')).toBe(key !== '');
    return parsedText((await run('bash', ['-c', line.replace(': KEY', `: ${key}`)])).stdout);
  };

  it.each([
    ['SOAP 1.1', `<order xmlns="urn:it's">17</order>`],
    ['SOAP 1.2', `<order xmlns="urn:it's">17</order>`],
    ['HTTP GET', { order: '17' }],
    ['HTTP POST', { order: '17' }],
  ])('over %s call, record the example and find it, with a key in place of KEY', async (binding, data) => {
    expect(await curl('HelloWorld', binding)).toBe('Hello World');
    const id = await curl('RecordEvent', binding, RECORD_KEY);
    const found = await curl('GetEvents', binding, READ_KEY);
    expect(eventsOf(found)).toContainEqual(expect.objectContaining({ id, data }));
  });
});
