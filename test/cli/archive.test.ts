import { Readable } from 'node:stream';
import { exportEvents, followEvents, importEvents, printEvents } from '../../src/cli/archive';
import { linesOf } from '../../src/cli/terminal';
import { EventLogError } from '../../src/log/engine';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { newEvent } from '../support/events';
import { eventually } from '../support/eventually';

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
    [['a\n'], ['a']],
    [['\n\n'], ['', '']],
    [
      ['a', 'b\nc', '\n', 'd'],
      ['ab', 'c', 'd'],
    ],
    [['a\u2028b\r\nc\u0085d'], ['a\u2028b\r', 'c\u0085d']],
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
    expect(await lines(['abcd', 'e\nfghij'], 5)).toEqual(['abcde', 'fghij']);
    await expect(lines(['abc', 'def\n'], 5)).rejects.toThrow('It is longer than 5 bytes.');
    await expect(lines(['a\n', 'abcdef'], 5)).rejects.toThrow('It is longer than 5 bytes.');
  });
});

it('prints JSON on a terminal with escapes for what a terminal would act on', async () => {
  const data = '"data":{"a":\t"\u009b2J\u202e\u007f\u{e0041}é"}';
  const log = openMemoryLog();
  await log.append(newEvent({ data }));
  const before = Object.getOwnPropertyDescriptor(process.stdout, 'isTTY');
  Object.defineProperty(process.stdout, 'isTTY', { value: true, configurable: true });
  const printed: string[] = [];
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text: unknown, ...done: unknown[]) => {
    printed.push(String(text));
    (done.at(-1) as () => void)();
    return true;
  });
  jest.spyOn(console, 'error').mockReturnValue();
  const stop = new AbortController();
  const start = { after: 0 };
  await printEvents(log, { json: true }, stop.signal);
  await exportEvents('-', log, start, stop.signal);
  const following = followEvents(log, { since: start, json: true }, stop.signal);
  await eventually('it is printed', () => printed.length === 3);
  stop.abort();
  await following;
  if (before === undefined) Reflect.deleteProperty(process.stdout, 'isTTY');
  else Object.defineProperty(process.stdout, 'isTTY', before);
  write.mockRestore();
  await log.close();
  for (const line of printed) {
    expect(line).toContain('"a": "\\u009b2J\\u202e\\u007f\\udb40\\udc41é"');
    expect(JSON.parse(line)).toMatchObject({ data: { a: '\u009b2J\u202e\u007f\u{e0041}é' } });
  }
});
