import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { createLogger } from '../../src/telemetry/logger';
import { eventually } from '../support/eventually';

describe('a log line', () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('info', {
    write: (line: string) => void lines.unshift(JSON.parse(line) as Record<string, unknown>),
  });

  it('shortens a long text and says how long it was', () => {
    const userAgent = '\u{1F600}'.repeat(300);
    log.warn({ reason: `\u202e${'x'.repeat(4_000_000)}`, path: 'y'.repeat(300), userAgent }, 'refused');
    expect(lines[0]).toMatchObject({
      reason: `\\u202e${'x'.repeat(299)}… (4000001 characters)`,
      path: 'y'.repeat(300),
    });
    expect(String(lines[0]?.userAgent)).toMatch(/… \(600 characters\)$/);
    expect(JSON.stringify(lines[0]).length).toBeLessThan(1500);
  });

  it('escapes what a terminal would obey or not show', () => {
    log.warn({ path: 'a\u001b[2Jb\u009b2Jc\u202ed\u2028e\nf\u00ff' }, 'the namespace "a\u009b2Jb\u202e"');
    expect(lines[0]).toMatchObject({
      path: 'a\u001b[2Jb\\u009b2Jc\\u202ed\\u2028e\nf\u00ff',
      msg: 'the namespace "a\\u009b2Jb\\u202e"',
    });
  });
});

describe('the log on standard output', () => {
  const LOG = `const log = require(${JSON.stringify(resolve('dist/telemetry/logger.js'))}).createLogger('info');`;

  it('is written whole and in order before the process ends, however slow writing is', async () => {
    // The one thread that also writes files is busy.
    const program = `${LOG}
      require('node:crypto').pbkdf2('a', 'b', 30_000, 64, 'sha512', () => undefined);
      log.info('first');
      setTimeout(() => {
        log.info('second');
        log.exit(0);
      }, 10);`;
    const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { env });
    expect(stdout.match(/first|second/g)).toEqual(['first', 'second']);
  });

  it('does not keep the process from ending if nobody reads it', async () => {
    const program = `${LOG} for (let i = 0; i < 1000; i++) log.info('x'.repeat(200)); log.exit(3);`;
    const child = spawn(process.execPath, ['-e', program], { timeout: 10_000, killSignal: 'SIGKILL' });
    expect(await once(child, 'exit')).toEqual([3, null]);
  });

  it('does not wait for a reader, and says how many lines were lost once somebody reads', async () => {
    const program = `${LOG}
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
    const lost = Number(/"lost":(\d+)/.exec(output)?.[1]);
    expect(lost).toBeGreaterThan(1000);
    // The last line is the one about them.
    expect(output.split('\n').length - 2 + lost).toBe(10_000);
  });
});
