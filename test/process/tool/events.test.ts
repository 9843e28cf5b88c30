import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { startProcess } from '../../support/process';
import { callOperation } from '../../support/bindings';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { runToolHere, startToolHere } from '../../support/tool-here';
import { directly, select } from '../../support/sqlite';

describe('the tool for the event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  beforeEach(() => {
    file = join(folder.path, 'events.db');
  });

  /** Runs the tool to its end. */
  const run = (args: string[], log = file) =>
    runToolHere(args, { EVENT_LOG: log === 'memory:' ? log : `sqlite:${log}` }, folder.path);

  const fill = async (count: number): Promise<void> => {
    const log = await openSqliteLog({ file });
    const events = Array.from({ length: count }, (_, i) =>
      newEvent({
        data: i % 2 === 0 ? `"data":{"n":${String(i)}.0,"text":"\u2028\u2029 \\u0000"}` : '"data_base64":"AP8="',
        arrival: `{"method":"POST","i":${String(i)}}`,
        recordedAt: 1_700_000_000_000 + i,
        idempotencyKey: i % 3 === 0 ? `key ${String(i)}` : undefined,
        webhookId: i % 5 === 0 ? `hook ${String(i)}` : undefined,
      }),
    );
    await Promise.all(events.map((event) => log.append(event)));
    await log.close();
  };

  const stored = async (path: string) => {
    const log = await openSqliteLog({ file: path });
    const events = await log.scan({ after: 0, limit: 100_000 });
    await log.close();
    return events;
  };

  it('exports everything, and imports it into an empty log unchanged', async () => {
    await fill(2500);
    const archive = join(folder.path, 'events.ndjson');
    expect(await run(['export', archive])).toMatchObject({ code: 0, errors: '2500 events exported.\n' });
    const other = join(folder.path, 'other.db');
    expect(await run(['import', archive], other)).toMatchObject({
      code: 0,
      errors: '2500 recorded, 0 already in the log.\n',
    });
    expect(await stored(other)).toEqual(await stored(file));
    expect((await run(['import', archive], other)).errors).toBe('0 recorded, 2500 already in the log.\n');
    const again = join(folder.path, 'again.ndjson');
    await run(['export', again], other);
    expect(await readFile(again, 'utf8')).toBe(await readFile(archive, 'utf8'));
  });

  it.each(['print', 'import none.ndjson', 'restore none.db'])('%s is refused for a log in memory', async (command) => {
    await writeFile(join(folder.path, 'none.ndjson'), '');
    const { code, errors } = await run(command.split(' '), 'memory:');
    expect([code, errors]).toEqual([
      2,
      'EVENT_LOG=memory: is a log that only its service has. Set EVENT_LOG to another one.\n',
    ]);
  });

  it('takes no notice of settings that it does not use', async () => {
    await fill(1);
    await writeFile(join(folder.path, '.env'), 'RECORD_KEYS_FILE=of/another/folder\nPORT=x\nRETENTION_MAX_AGE=x\n');
    expect(await run(['export', '-'])).toMatchObject({ code: 0, errors: '1 event exported.\n' });
    await writeFile(join(folder.path, '.env'), 'EVENT_LOG_TIMEOUT=x\n');
    expect(await run(['export', '-'])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('EVENT_LOG_TIMEOUT=x: must') as string,
    });
  });

  it('names pages that are damaged', async () => {
    await fill(500);
    const bytes = await readFile(file);
    bytes.fill(0xff, 20 * 4096, 24 * 4096);
    await writeFile(file, bytes);
    const output: unknown = expect.stringMatching(/^The file is damaged: /);
    expect(await run(['verify'])).toMatchObject({ code: 1, output });
  });

  it('names events that are damaged, leaves them out of export and print, and removes them', async () => {
    await fill(6);
    for (const [i, change] of [
      "attributes = 'x'",
      `data = '"data":{'`,
      `data = '"data_base64":"!"'`,
      'arrival = 7',
      "data = CAST(x'2264617461223a2261ff6222' AS TEXT)",
    ].entries())
      directly(file, `UPDATE events SET ${change} WHERE sequence = ${String(i + 1)}`);
    const leftOut = ['attributes', 'data', 'data', 'arrival'].map(
      (what, i) => `Event ${String(i + 1)} is left out: its ${what} cannot be read.\n`,
    );
    const plain = async (args: string[]) => {
      const { code, output, errors } = await run(args);
      return [code, output.replaceAll(/0{19}/g, ''), errors.replaceAll(/0{19}/g, '')];
    };
    const archive = join(folder.path, 'events.ndjson');
    expect(await plain(['export', archive])).toEqual([1, '', `${leftOut.join('')}2 events exported.\n`]);
    const exported = (await readFile(archive, 'utf8')).trimEnd().split('\n');
    expect(exported.map((line) => (JSON.parse(line) as { data: unknown }).data)).toMatchObject(['a\ufffdb', undefined]);
    expect(await run(['print'])).toMatchObject({ code: 0, output: `${exported.join('\n')}\n` });
    expect(await plain(['forget', '2'])).toEqual([
      0,
      'Event 2, which is damaged\n',
      expect.stringMatching(/^1 removed\./),
    ]);
    expect((await plain(['verify']))[2]).toBe('5 events verified. Findings: 3.\n');
  });

  it('says where remains of removed events may be, and which names are unknown, and gives space back', async () => {
    await fill(3);
    const { code, output, errors } = await run(['forget', '--text', '"n":2', '--rewrite']);
    expect([code, output]).toEqual([0, expect.stringMatching(/^.{24} +3 {2}test /)]);
    expect(errors).toMatch(/^1 removed\.\nWhat was removed may still be in .*\n$/);
    expect((await run(['compact'])).errors).toMatch(/^\d+ bytes given back\.\n$/);
    expect((await stored(file)).map(({ position }) => position)).toEqual([1, 2]);
    const unknown = '0 removed.\nThere is no event a\\u001b.\n';
    expect(await run(['forget', 'a\u001b'])).toMatchObject({ code: 1, errors: unknown });
  });

  it.each([
    ['', 1, 'Nothing was removed.', 2],
    ['yes', 0, '1 removed.', 1],
  ])('asks on a terminal, and removes events only if the answer is yes: %j', async (answer, code, said, left) => {
    await fill(2);
    const tool = startToolHere(['forget', '1'], { EVENT_LOG: `sqlite:${file}` }, folder.path, { isTerminal: true });
    await tool.said('Remove 1 event for good? [y/N] ');
    tool.type(answer);
    expect(await tool.ended).toBe(code);
    expect(tool.errors()).toContain(said);
    expect(await stored(file)).toHaveLength(left);
  });

  it('reads the log of a service with the key in .env, and records nothing where --from names RecordEvent', async () => {
    const key = 'a-read-key-of-16-chars';
    await writeFile(join(folder.path, '.env'), `WEBHOOK_READ_KEY='${key}'\n`);
    const service = await startProcess({ EVENT_LOG: `sqlite:${file}`, READ_KEYS: key }, folder.path);
    await callOperation(service.url, 'httpget', 'RecordEvent');
    const { output, errors } = await run(['export', '-', '--from', `${service.url}/RecordEvent`], 'memory:');
    await service.end('SIGTERM');
    expect([errors, output.split('\n').length]).toEqual(['1 event exported.\n', 2]);
    expect(service.output()).not.toContain('no such setting');
  });

  it('copies the log while the service runs, and puts the copy in the place of the log, which is copied before', async () => {
    await fill(2);
    const service = await startProcess({ EVENT_LOG: `sqlite:${file}` }, folder.path);
    const copy = join(folder.path, 'copy.db');
    expect(await run(['backup', copy])).toMatchObject({ code: 0, errors: `${copy} is a copy of the log.\n` });
    expect(select(copy, 'PRAGMA file.integrity_check')).toMatchObject([{ integrity_check: 'ok' }]);
    await callOperation(service.url, 'httpget', 'RecordEvent');
    const { code, errors } = await run(['restore', copy]);
    const [, before = ''] = /^Restored\. (.*) is a copy of the log as it was before\.\n$/.exec(errors) ?? [];
    expect([code, before]).toEqual([0, expect.stringContaining(`${file}.replaced-`)]);
    expect([await stored(file), await stored(before)].map(({ length }) => length)).toEqual([2, 3]);
    await callOperation(service.url, 'httpget', 'RecordEvent');
    expect((await stored(file)).map(({ position }) => position)).toEqual([1, 2, 4]);
    await service.end('SIGTERM');
  });

  it('does not create a log that it was asked to read, nor one for a file that cannot be imported', async () => {
    const { code, errors } = await run(['export', '-']);
    expect([code, errors]).toEqual([1, `There is no event log at ${file}. Set EVENT_LOG to where it is.\n`]);
    expect((await run(['import', '.'])).errors).toBe('. cannot be read: it is a folder.\n');
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });
});
