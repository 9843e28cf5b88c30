import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { exportEvents, followEvents, importEvents } from '../../src/cli/archive';
import { linesOf } from '../../src/cli/terminal';
import { ArchiveLine } from '../../src/events/archive-line';
import type { StoredEvent } from '../../src/events/stored-event';
import { EventLogError } from '../../src/log/engine';
import type { EventLog } from '../../src/log/event-log';
import { openMemoryLog } from '../../src/log/memory/event-log';
import type { OnLogChange, ReadableLog } from '../../src/log/readable-log';
import { plainReason } from '../../src/util/errors';
import { newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { startService } from '../support/service';
import { useTemporaryFolder } from '../support/temporary-folder';
import { startToolHere } from '../support/tool-here';

const line = (id: number) => `${JSON.stringify({ specversion: '1.0', id: String(id), source: '/s', type: 't' })}\n`;

const folder = useTemporaryFolder();

it('an import says how far it came before the log failed', async () => {
  const said = jest.spyOn(console, 'error').mockReturnValue();
  const log = openMemoryLog();
  await log.append(newEvent({ id: '0', source: '/s' }));
  const append = log.append.bind(log);
  jest
    .spyOn(log, 'append')
    .mockImplementationOnce(append)
    .mockRejectedValueOnce(new EventLogError('The disk is full.'));
  const text = Array.from({ length: 1500 }, (_, i) => line(i)).join('');
  await expect(importEvents('x', Readable.from([Buffer.from(text)]), log)).rejects.toMatchObject({
    message: 'The import stopped; run it again to go on',
    cause: { message: 'The disk is full.' },
  });
  expect(said.mock.calls).toEqual([['999 recorded, 1 already in the log.']]);
  await log.close();
});

it('leaves out only an event whose Idempotency-Key another one has, says so, and names the line that is no event', async () => {
  const said = jest.spyOn(console, 'error').mockReturnValue();
  const log = openMemoryLog();
  await log.append(newEvent({ id: 'first', idempotencyKey: 'k', data: '"data":0' }));
  const [first] = await log.scan({ after: 0, limit: 1 });
  const another = ArchiveLine.of({ ...(first as StoredEvent), data: '"data":1' }).replaceAll('"first"', '"another"');
  const ends = (text: string, encoding?: BufferEncoding) =>
    importEvents('x', Readable.from([Buffer.from(text, encoding)]), log).catch(plainReason);
  expect(await ends(`${another}\n\n${line(1)}`)).toBe(false);
  expect(said.mock.calls.flat()).toEqual([
    'Event another is left out: first has its Idempotency-Key, with another type or other data.',
    '1 recorded, 0 already in the log.',
  ]);
  await log.append(newEvent({ id: 'w', webhookId: 'w', data: '"data":0' }));
  const delivery = ArchiveLine.of({ ...newEvent({ id: 'delivery', webhookId: 'w', data: '"data":1' }), position: 1 });
  for (const outcome of ['1 recorded, 0', '0 recorded, 1'])
    expect([await ends(delivery), said.mock.calls.at(-1)]).toEqual([true, [`${outcome} already in the log.`]]);
  const wrong = line(3).replace('"t"', '""');
  expect(await ends(`${line(1)}\n${line(2)}${wrong}`)).toMatch(/^Line 4 of x cannot .*: .*type must not be empty\.$/);
  expect(said.mock.calls.at(-1)).toEqual(['1 recorded, 1 already in the log.']);
  expect(await ends(line(4).replace('"t"', '"\u00e4"'), 'latin1')).toMatch(
    /^Line 1 of x cannot .*: It is not UTF-8\.$/,
  );
  expect((await log.scan({ after: 0, limit: 9 })).map(({ id }) => id)).toEqual(['first', '1', 'w', 'delivery', '2']);
});

it('an import takes no more of a file at a time than 8 MiB and the line that goes over them', async () => {
  jest.spyOn(console, 'error').mockReturnValue();
  const sizes: number[] = [];
  const append = (...events: unknown[]) => Promise.resolve((sizes.push(events.length), []));
  const text = line(1).replace('}', `,"data":"${'x'.repeat(5_000_000)}"}`);
  await importEvents('x', Readable.from([Buffer.from(text.repeat(4))]), { append: append as EventLog['append'] });
  expect(sizes).toEqual([2, 2]);
});

/** The lines in these chunks. */
const lines = async (chunks: string[], maxBytes?: number): Promise<string[]> => {
  const stream = async function* () {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
  };
  const found: string[] = [];
  for await (const some of linesOf(stream(), maxBytes)) found.push(...some.map(String));
  return found;
};

describe('the lines of a file', () => {
  it.each([
    [[], []],
    [[''], []],
    [['a'], ['a']],
    [['a\n'], ['a\n']],
    [['\n\n'], ['\n', '\n']],
    [
      ['a', 'b\nc', '\n', 'd'],
      ['ab\n', 'c\n', 'd'],
    ],
    [['a\u2028b\r\nc\u0085d'], ['a\u2028b\r\n', 'c\u0085d']],
  ])('in the chunks %j are %j', async (chunks, expected) => {
    expect(await lines(chunks)).toEqual(expected);
  });

  it('are found in linear time', async () => {
    const chunk = 'x'.repeat(64_000);
    const before = process.cpuUsage();
    const [line] = await lines(Array.from({ length: 750 }, () => chunk));
    const { user, system } = process.cpuUsage(before);
    expect(line).toHaveLength(48_000_000);
    expect(user + system).toBeLessThan(3_000_000);
  });

  it('may be as long as the limit, and not longer', async () => {
    expect(await lines(['abc', 'd\nfghij'], 5)).toEqual(['abcd\n', 'fghij']);
    await expect(lines(['abc', 'de\n'], 5)).rejects.toThrow('It is longer than 5 bytes.');
    await expect(lines(['a\n', 'abcdef'], 5)).rejects.toThrow('It is longer than 5 bytes.');
  });
});

describe('on a terminal', () => {
  /** Runs a command on the log of a service with one event. */
  async function started(command: string, data: string) {
    const { url, log } = await startService();
    await log.append(newEvent({ data }));
    return startToolHere([...command.split(' '), '--from', url], {}, folder.path, { isTerminal: true });
  }
  /** What a command prints of an event. */
  async function printed(command: string, data: string): Promise<string> {
    const tool = await started(command, data);
    await eventually('it is printed', () => tool.output() !== '');
    await tool.end('SIGTERM');
    return tool.output();
  }

  it.each(['print --json', 'export -', 'follow --since 0 --json'])(
    'JSON is printed with escapes for what a terminal would act on, by %s',
    async (command) => {
      const output = await printed(command, '"data":{"a":\t"\u009b2J\u202e\u007f\u{e0041}é"}');
      expect(output).toContain('"a": "\\u009b2J\\u202e\\u007f\\udb40\\udc41é"');
      expect(JSON.parse(output)).toMatchObject({ data: { a: '\u009b2J\u202e\u007f\u{e0041}é' } });
    },
  );

  it('JSON goes to a file as it is', async () => {
    expect(await (await started('export file', '"data":"a\u202e"')).ended).toBe(0);
    expect(await readFile(join(folder.path, 'file'), 'utf8')).toContain('"data":"a\u202e"');
  });

  it.each(['print', 'follow --since 0'])('a short line is printed for an event by %s', async (command) => {
    expect(await printed(command, '"data":"abc"')).toMatch(/^2023-11-14 22:13:20\.000 +1 +test +3 B +–\n$/);
  });
});

it.each([
  ['ends before', 2],
  ['another event', 5],
] as const)(
  'what follows a log goes on in another one that %s after %d, and ends when it cannot be read',
  async (change, after) => {
    const said = jest.spyOn(console, 'error').mockReturnValue();
    const follow = async function* (start: unknown, _stop: unknown, changed: OnLogChange) {
      expect([start, changed(change, 5, 2)]).toEqual([{ after: 5 }, after]);
      yield await Promise.resolve([]);
      throw new EventLogError('The disk is broken.');
    };
    const log = { follow, newest: () => Promise.resolve(5) } as Partial<ReadableLog> as ReadableLog;
    await expect(followEvents(log, {}, new AbortController().signal)).rejects.toThrow('The disk is broken.');
    expect(said.mock.calls.flat()).toEqual([
      'Waiting for events after 5.',
      `The log was replaced after event 5. Going on after event ${String(after)}.`,
      '0 events printed.',
    ]);
  },
);

it('an export that a signal ends leaves no file', async () => {
  const stop = new AbortController();
  const pages = async function* () {
    yield await Promise.resolve([{ ...newEvent(), position: 1 }]);
    stop.abort(new Error('Stopped before the end.'));
    yield [{ ...newEvent(), position: 2 }];
  };
  const log = { pages } as Partial<ReadableLog> as ReadableLog;
  await expect(exportEvents(join(folder.path, 'events'), log, {}, stop.signal)).rejects.toThrow(
    'Stopped before the end.',
  );
  expect(await readdir(folder.path)).toEqual([]);
});
