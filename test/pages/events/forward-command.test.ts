import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { askedFor } from '../../support/events-command';
import { send } from '../../support/http';
import { codeOf } from '../../support/page';
import { startService, type TestService } from '../../support/service';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { htmlProblems } from '../../support/valid-html';

describe('the command that forwards what a page shows', () => {
  const folder = useTemporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await startService();
    await send(`${service.url}/RecordEvent`, { method: 'POST', body: 'x' });
  });
  afterEach(() => service.stop());

  const page = async (query: string) => (await send(service.url + query)).body;

  /** What the tool understands of the command on a page, when a shell has read it. */
  const taskOn = async (query: string, id = 'forward-command') => {
    const body = await page(query);
    expect(await htmlProblems(body)).toEqual([]);
    const script = `node() { test -f "$1" && shift && printf '%s\\0' "$@"; }\nURL=\n${codeOf(body, id)}`;
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { cwd: folder.path });
    const args = stdout.split('\0').slice(0, -1);
    expect(args.slice(0, 2)).toEqual(['forward', 'URL']);
    return (await askedFor(['forward', 'http://h', ...args.slice(2)]))[2];
  };

  it('names an event by its whole sequence', async () => {
    const task = { selection: { names: ['00000000000000000001'] }, received: undefined };
    expect(await taskOn('?event=1')).toMatchObject(task);
    expect(await taskOn('?event=1', 'as-received-command')).toMatchObject({ ...task, received: { signer: undefined } });
  });

  it('has all events where the list is not narrowed', async () => {
    const task = { since: { after: 0 }, selection: undefined };
    expect(await taskOn('?events')).toMatchObject(task);
    expect(await taskOn('?events', 'as-received-command')).toMatchObject({ ...task, received: { signer: undefined } });
  });

  it.each([
    ['text', `it's "x" $(touch there) \`id\` \\ ; | & > <b>&amp;</b>`],
    ['text', '-x'],
    ['text', 'a\nb'],
    ['type', `'; touch there; '`],
    ['binding', `soap11' --event 1 '`],
    ['sender', '127.0.0.1'],
  ])('has the %s of the search, whatever that is: %j', async (name, value) => {
    // Finds nothing, which is not worth a command, until an event matches.
    const json = JSON.stringify({
      specversion: '1.0',
      id: '1',
      source: '/s',
      type: name === 'type' ? value : 't',
      data: value,
    });
    const headers = { 'Content-Type': 'application/cloudevents+json' };
    await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: json });
    if (name === 'binding') {
      expect(await page(`?events&binding=${encodeURIComponent(value)}`)).not.toContain('forward-command');
      return;
    }
    const task = await taskOn(`?events&${name}=${encodeURIComponent(value)}`);
    expect(task).toMatchObject({ selection: { search: { [name]: value } } });
  });

  it('has binding and times of the search', async () => {
    const task = await taskOn('?events&binding=httppost&from=2020-01-02T03:04&to=2120-01-02T03:04:05.678');
    expect(task).toMatchObject({
      selection: {
        search: { binding: 'httppost', from: Date.UTC(2020, 0, 2, 3, 4), to: Date.UTC(2120, 0, 2, 3, 4, 5, 678) },
      },
    });
  });

  it.each(['', '&text=%E2%80%AE', '&text=a%0Db', '&text=nothing-has-this', '&from=x'])(
    'is shown only where it finds something and can be read in full: %s',
    async (query) => {
      await send(`${service.url}/RecordEvent`, { method: 'POST', body: '\u202E a\rb' });
      expect((await page(`?events${query}`)).includes('id="forward-command"')).toBe(query === '');
    },
  );
});
