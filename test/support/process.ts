import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './eventually';
import { freePort } from './free-port';

const MAIN = join(__dirname, '..', '..', 'dist', 'main.js');

/**
 * First segment of the path of the services of a test file. While one of them is restarted its port is free, and another service may get it:
 * it answers 404 on this path, which no caller takes for an answer of its own.
 */
const SERVICE_ROOT = `test-${randomUUID()}`;

export interface ServiceProcess {
  readonly child: ChildProcess;
  /** Absolute address of the endpoint, as the process printed it. */
  readonly url: string;
  /** Everything that the process printed so far. */
  output(): string;
  /** Waits for a log line with this message and returns its fields. */
  logged(message: string): Promise<Readonly<Record<string, unknown>>>;
  /** Sends a signal and resolves to the exit code, or to the signal that ended the process. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

const running = new Set<ChildProcess>();

/** Kills what a failed test left running. */
export function killProcesses(): void {
  for (const child of running) child.kill('SIGKILL');
}

afterAll(killProcesses);

async function run(
  variables: Readonly<Record<string, string | undefined>>,
  cwd: string,
  args: readonly string[] = [],
  node = process.execPath,
): Promise<ChildProcess> {
  const { PATH = '' } = process.env;
  // Several processes cannot each pick a port.
  const PORT = variables.WORKERS === undefined ? '0' : String(await freePort());
  const child = spawn(node, [MAIN, ...args], {
    cwd,
    env: { PATH, PORT, SERVICE_ROOT, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.on('exit', () => running.delete(child));
  return child;
}

/**
 * Starts the service as a process of its own and waits until it has printed its address, and each of its WORKERS has started. PORT is 0
 * unless it is among the variables.
 */
export async function startProcess(
  variables: Readonly<Record<string, string | undefined>>,
  cwd: string,
  node = process.execPath,
): Promise<ServiceProcess> {
  const child = await run(variables, cwd, [], node);
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const output = collect(child);
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const found = /WebHook answers at (\S+)/.exec(output())?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => {
      reject(new Error(`the service ended before it was ready: ${output()}`));
    });
  });
  const { WORKERS = '1' } = variables;
  // One process has started before it prints its address; of several, only the first.
  if (WORKERS !== '1') {
    await eventually('every worker has started', () => output().match(/"started"/g)?.length === Number(WORKERS));
  }
  return {
    child,
    url,
    output,
    async logged(message) {
      let found: Readonly<Record<string, unknown>> | undefined;
      await eventually(`the log line ${message}`, () => {
        found = logLines(output()).find(({ msg }) => msg === message);
        if (found === undefined && child.exitCode !== null)
          throw new Error(`the service ended without the log line ${message}: ${output()}`);
        return found !== undefined;
      });
      return found ?? {};
    },
    async end(signal) {
      child.kill(signal);
      const [code, by] = await ended;
      return code ?? by;
    },
  };
}

/** The process ids of the service's child processes (Linux). */
export async function childrenOf({ child }: { child: Pick<ChildProcess, 'pid'> }): Promise<number[]> {
  const pid = String(child.pid);
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return list.trim().split(/\s+/).filter(Boolean).map(Number);
}

/** The log lines in what a process printed. */
export function logLines(output: string): Readonly<Record<string, unknown>>[] {
  const lines = output.split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Runs the service with settings that should stop its start; resolves to its exit code and what it printed. */
export async function runToEnd(
  variables: Readonly<Record<string, string>>,
  cwd: string,
  args: readonly string[] = [],
): Promise<{ code: number | null; output: string }> {
  const child = await run(variables, cwd, args);
  const output = collect(child);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: output() };
}

function collect(child: ChildProcess): () => string {
  let text = '';
  const add = (chunk: Buffer): void => {
    text += chunk.toString();
  };
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  return () => text;
}
