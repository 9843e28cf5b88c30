import { join } from 'node:path';
import { Readable } from 'node:stream';
import { importEvents } from '../../src/cli/archive';
import { linesOf } from '../../src/cli/terminal';
import { ArchiveLine } from '../../src/events/archive-line';
import type { StoredEvent } from '../../src/events/stored-event';
import { EventLogError } from '../../src/log/engine';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { plainReason } from '../../src/util/errors';
import { newEvent } from '../support/events';
import { eventually } from '../support/eventually';
import { useTemporaryFolder } from '../support/temporary-folder';
import { startToolHere } from '../support/tool-here';

const line = (id: number) => `${JSON.stringify({ specversion: '1.0', id: String(id), source: '/s', type: 't' })}\n`;

it('says how far an import came before the log failed', async () => {
  const log = openMemoryLog();
  await log.append(newEvent({ id: '0', source: '/s' }));
  const append = log.append.bind(log);
  jest
    .spyOn(log, 'append')
    .mockImplementationOnce(append)
    .mockRejectedValueOnce(new EventLogError('The disk is full.'));
  const text = Array.from({ length: 1500 }, (_, i) => line(i)).join('');
  await expect(importEvents('x', Readable.from([Buffer.from(text)]), log)).rejects.toMatchObject({
    message: 'The import stopped; run it again to go on. Before that: 999 recorded, 1 already in the log.',
    cause: { message: 'The disk is full.' },
  });
  await log.close();
});

it('leaves out an event whose Idempotency-Key another one has, says so, and names the line that is no event', async () => {
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
  const wrong = line(3).replace('"t"', '""');
  expect(await ends(line(1) + line(2) + wrong)).toMatch(
    /^Line 3 of x .*: 1 recorded, 1 already .* type must not be empty\.$/,
  );
  expect(await ends(line(4).replace('"t"', '"\u00e4"'), 'latin1')).toMatch(
    /^Line 1 of x cannot .*: It is not UTF-8\.$/,
  );
  expect((await log.scan({ after: 0, limit: 9 })).map(({ id }) => id)).toEqual(['first', '1', '2']);
  said.mockRestore();
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
  const folder = useTemporaryFolder();

  it('JSON is printed with escapes for what a terminal would act on', async () => {
    const log = await openSqliteLog({ file: join(folder.path, 'events.db') });
    await log.append(newEvent({ data: '"data":{"a":\t"\u009b2J\u202e\u007f\u{e0041}é"}' }));
    await log.close();
    for (const command of ['print --json', 'export -', 'follow --since 0 --json']) {
      const variables = { EVENT_LOG: 'sqlite:events.db' };
      const tool = startToolHere(command.split(' '), variables, folder.path, { isTerminal: true });
      await eventually('it is printed', () => tool.output() !== '');
      await tool.end('SIGTERM');
      expect(tool.output()).toContain('"a": "\\u009b2J\\u202e\\u007f\\udb40\\udc41é"');
      expect(JSON.parse(tool.output())).toMatchObject({ data: { a: '\u009b2J\u202e\u007f\u{e0041}é' } });
    }
  });
});
