import { join } from 'node:path';
import { Readable } from 'node:stream';
import { importEvents } from '../../src/cli/archive';
import { linesOf } from '../../src/cli/terminal';
import { EventLogError } from '../../src/log/engine';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { openSqliteLog } from '../../src/log/sqlite/event-log';
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

/** The lines in these chunks. */
const lines = async (chunks: string[], maxBytes?: number): Promise<string[]> => {
  const stream = async function* () {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
  };
  const found: string[] = [];
  for await (const line of linesOf(stream(), maxBytes)) found.push(line.toString());
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
