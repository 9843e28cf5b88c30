import { callOperation, eventsOf, resultOf } from '../../support/bindings';
import { eventually } from '../../support/eventually';
import { metricsAt } from '../../support/metrics';
import { killProcesses, startProcess, type ServiceProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { getEvents, untilWaiting } from '../../support/waiting';

describe('with several workers, calls that wait', () => {
  const folder = useTemporaryFolder();
  let service: ServiceProcess;
  let admin: string;
  beforeEach(async () => {
    service = await startProcess({ WORKERS: '2', ADMIN_PORT: '0' }, folder.path);
    admin = String((await service.logged('supervising')).adminUrl);
  });
  afterEach(killProcesses);

  const wait = async (calls: number, after: string) => {
    const answers = Array.from({ length: calls }, () => getEvents(service.url, 'soap11', { after, wait: '60s' }));
    await untilWaiting(admin, calls);
    return answers;
  };

  it('are told of events whichever worker records them', async () => {
    for (let i = 0; i < 5; i++) {
      const answers = await wait(16, String(i));
      const id = await callOperation(service.url, 'httpget', 'RecordEvent');
      for (const answer of await Promise.all(answers)) {
        expect(eventsOf(resultOf(answer)).map((event) => event.id)).toEqual([id]);
      }
    }
    expect((await metricsAt(admin)).get('webhook_calls_in_flight')).toBe(0);
  });

  it('are answered at once when the workers hand over, and can wait again', async () => {
    const answers = await wait(16, '0');
    service.child.kill('SIGHUP');
    for (const answer of await Promise.all(answers)) {
      expect([answer.status, resultOf(answer)]).toEqual([200, '[]']);
    }
    await eventually('the workers have handed over', () => service.output().match(/"stopped"/g)?.length === 2);
    const [again] = await wait(1, '0');
    await callOperation(service.url, 'httpget', 'RecordEvent');
    expect((await again)?.status).toBe(200);
  });
});
