import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { eventually } from '../support/eventually';
import { logLines, startProcess, type ServiceProcess } from '../support/process';
import { temporaryFolder } from '../support/temporary-folder';
import { KEY, type Attack } from '../security/attacks/attack';
import { HTTP_ATTACKS } from '../security/attacks/http';
import { SLOW_ATTACKS } from '../security/attacks/slow';
import { bodyAttacks, FULL_SIZE, xmlAttacks } from '../security/attacks/xml';

/** How long an attack that can be repeated goes on, in milliseconds, and how many do it at once. */
const DURATION = 1000;
const PARALLEL = 3;

/** Pause between two attacks of one attacker, in milliseconds: the attackers must not take the machine from the service. */
const PAUSE = 10;

/** What a client beside an attack may see at most, in milliseconds, and how much memory may stay afterwards, in bytes. */
const MAX_P99 = 100;
const MAX_GROWTH = 20 * 1024 * 1024;

const BODIES = [...xmlAttacks(FULL_SIZE), ...bodyAttacks(FULL_SIZE)];

/** How often an attack is measured at most: the machine may have been busy with something else. */
const TRIES = 5;

/** Of fewer calls a percentile says nothing. */
const MIN_CALLS = 10;

interface Beside {
  readonly calls: number;
  readonly p99: number;
  readonly others: Readonly<Record<string, number>>;
}

describe('beside an attack a client is answered as ever, and afterwards memory is as before', () => {
  let service: ServiceProcess;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const rows: string[] = [];

  beforeAll(async () => {
    folder = await temporaryFolder();
    const timeouts = { REQUEST_TIMEOUT: '2s' };
    const NODE_OPTIONS = `--expose-gc --require ${join(__dirname, '..', 'support', 'memory.cjs')}`;
    service = await startProcess({ NODE_OPTIONS, RECORD_KEYS: KEY, ...timeouts }, folder.path);
    // The largest messages, and as many as are held, grow the memory to what it is in service.
    for (const attack of [...BODIES, ...SLOW_ATTACKS.slice(-2)]) {
      await Promise.all(Array.from({ length: PARALLEL }, () => attack.once(service.url)));
    }
  }, 120_000);
  afterAll(async () => {
    console.log(
      [row('attack', 'answer', 'attacks', 's', 'client calls', 'p99 ms', 'memory after'), ...rows].join('\n'),
    );
    expect(await service.end('SIGTERM')).toBe(0);
    await folder.remove();
  });

  const attacks = [...BODIES, ...HTTP_ATTACKS, ...SLOW_ATTACKS];
  it.each(attacks.map((attack) => [attack.name, attack] as const))(
    '%s',
    async (_name, attack) => {
      const before = await memory();
      let measured = await measure(attack);
      for (let i = 1; i < TRIES && !isFit(measured.beside); i++) measured = await measure(attack);
      const { answers, seconds, beside } = measured;
      const after = await settledMemory(before + MAX_GROWTH);
      rows.push(
        row(
          attack.name,
          (answers[0] ?? '').slice(0, 20).split('\n')[0] ?? '',
          String(answers.length),
          seconds.toFixed(1),
          String(beside.calls),
          beside.p99.toFixed(1),
          `${(after / 1024 / 1024).toFixed(0)} MiB`,
        ),
      );
      for (const answer of answers) expect(answer.slice(0, 1000)).toMatch(attack.answer);
      expect(beside.others).toEqual({});
      expect(beside.calls).toBeGreaterThan(MIN_CALLS);
      expect(beside.p99).toBeLessThan(MAX_P99);
      expect(after).toBeLessThan(before + MAX_GROWTH);
    },
    90_000,
  );

  async function measure(attack: Attack): Promise<{ answers: string[]; seconds: number; beside: Beside }> {
    const stop = await bystander(service.url);
    const started = performance.now();
    const answers = await attackFor(attack, service.url);
    return { answers, seconds: (performance.now() - started) / 1000, beside: await stop() };
  }

  /** Memory of the process behind a garbage collection. */
  async function memory(): Promise<number> {
    const before = measured().length;
    service.child.kill('SIGUSR2');
    await eventually('the memory is told', () => measured().length > before);
    return Number(measured().at(-1)?.rss);
  }

  const measured = () => logLines(service.output()).filter(({ msg }) => msg === 'memory');

  /** Memory as it is when it is below a limit, or after ten seconds. */
  async function settledMemory(limit: number): Promise<number> {
    for (let i = 0; i < 40; i++) {
      const bytes = await memory();
      if (bytes < limit) return bytes;
      await setTimeout(250);
    }
    return memory();
  }
});

/** Whether a measurement is one, and as it should be. */
function isFit({ calls, p99 }: Beside): boolean {
  return calls > MIN_CALLS && p99 < MAX_P99;
}

async function attackFor(attack: Attack, url: string): Promise<string[]> {
  const { parallel = PARALLEL } = attack;
  if (parallel === 0) return [await attack.once(url), await setTimeout(DURATION, '')].slice(0, 1);
  const answers: string[] = [];
  const end = Date.now() + DURATION;
  const attacker = async (): Promise<void> => {
    while (Date.now() < end) {
      answers.push(await attack.once(url));
      await setTimeout(PAUSE);
    }
  };
  await Promise.all(Array.from({ length: parallel }, attacker));
  return answers;
}

/** Starts a well-behaved client; the function that is returned stops it and tells what it saw. */
async function bystander(url: string): Promise<() => Promise<Beside>> {
  const script = join(__dirname, '..', 'support', 'bystander.cjs');
  const child = spawn(process.execPath, [script, url, KEY], { stdio: ['pipe', 'pipe', 'inherit'] });
  const printed = text(child.stdout);
  await once(child, 'spawn');
  return async () => {
    child.stdin.end();
    return JSON.parse(await printed) as Beside;
  };
}

function row(...cells: string[]): string {
  const widths = [58, 22, 8, 6, 12, 8, 12];
  return cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' ');
}
