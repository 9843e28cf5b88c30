import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { createLogger, type Logger } from '../../src/telemetry/logger';
import { eventually } from '../support/eventually';

function logTo(lines: Record<string, unknown>[]): Logger {
  return createLogger('info', {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
}

describe('a log line', () => {
  it('shortens a long text and says how long it was', () => {
    const lines: Record<string, unknown>[] = [];
    const log = logTo(lines);
    log.warn({ reason: 'x'.repeat(4_000_000), path: 'y'.repeat(300), userAgent: '\u{1F600}'.repeat(300) }, 'refused');
    expect(lines[0]).toMatchObject({ reason: `${'x'.repeat(300)}… (4000000 characters)`, path: 'y'.repeat(300) });
    expect(String(lines[0]?.userAgent)).toMatch(/… \(600 characters\)$/);
    expect(JSON.stringify(lines[0]).length).toBeLessThan(1500);
  });

  it('escapes what a terminal would obey or not show', () => {
    const lines: Record<string, unknown>[] = [];
    logTo(lines).warn({ path: 'a\u001b[2Jb\u009b2Jc\u202ed\u2028e\nf\u00ff' }, 'refused');
    expect(lines[0]?.path).toBe('a\u001b[2Jb\\u009b2Jc\\u202ed\\u2028e\nf\u00ff');
    logTo(lines).warn({ hint: 'soap-namespace' }, 'the namespace "a\u009b2Jb\u202e"');
    expect(lines[1]?.msg).toBe('the namespace "a\\u009b2Jb\\u202e"');
  });
});

describe('the log on standard output', () => {
  it('is written whole and in order before the process ends, however slow writing is', async () => {
    // The one thread that also writes files is busy.
    const program = `
      const { createLogger } = require(${JSON.stringify(resolve('dist/telemetry/logger.js'))});
      const log = createLogger('info');
      require('node:crypto').pbkdf2('a', 'b', 100_000, 64, 'sha512', () => undefined);
      log.info('first');
      setTimeout(() => {
        log.info('second');
        log.exit(0);
      }, 10);`;
    const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { env });
    expect(stdout.match(/first|second/g)).toEqual(['first', 'second']);
  });

  it('does not wait for a reader, and says how many lines were lost once somebody reads', async () => {
    const program = `
      const { createLogger } = require(${JSON.stringify(resolve('dist/telemetry/logger.js'))});
      const log = createLogger('info');
      for (let i = 0; i < 10_000; i++) log.info('x'.repeat(200));
      console.error('logged');
      process.stdin.resume().on('end', () => log.exit(0));`;
    const child = spawn(process.execPath, ['-e', program]);
    await once(child.stderr, 'data');
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await eventually('lost lines are counted', () => output.includes('"lost"'));
    child.stdin.end();
    await once(child, 'close');
    const lines = output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { lost?: number });
    const lost = lines.find((line) => line.lost !== undefined)?.lost ?? 0;
    expect(lost).toBeGreaterThan(1000);
    expect(lines.length - 1 + lost).toBe(10_000);
  });
});
