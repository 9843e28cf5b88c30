import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { create } from 'xmlbuilder2';
import { send } from '../support/http';
import { samplesOn } from '../support/page';
import { startService, type TestService } from '../support/service';
import { describeWith } from '../support/tools';

const run = promisify(execFile);

describeWith({ curl: 'curl', bash: 'bash' }, 'the curl lines on the pages', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ SERVICE_NAMESPACE: "http://example.com/it's/" });
  });
  afterAll(() => service.stop());

  it.each(['SOAP 1.1', 'SOAP 1.2', 'HTTP GET', 'HTTP POST'])('over %s call the operation', async (binding) => {
    const { body } = await send(`${service.url}?op=HelloWorld`);
    const { stdout } = await run('bash', ['-c', `${samplesOn(body, binding).curl} --silent --show-error`]);
    expect(create(stdout).root().node.textContent).toBe('Hello World');
  });
});
