import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { childrenOf, freePort, killPrograms, peakOf, run, SERVICE, SERVICE_ROOT } from './program.cjs';

export { childrenOf, killPrograms as killProcesses, peakOf };

export type ServiceProcess = Awaited<ReturnType<typeof startProcess>>;

type Variables = Readonly<Record<string, string | undefined>>;

async function begin(variables: Variables, cwd: string, args: readonly string[] = [], node = process.execPath) {
  // Several processes cannot each pick a port.
  const PORT = variables.WORKERS === undefined ? '0' : String(await freePort());
  return run([node, SERVICE, ...args], { cwd, variables: { PORT, SERVICE_ROOT, ...variables } });
}

/**
 * Starts the service as a process of its own and waits until it has printed its address, and each of its WORKERS has started. PORT is 0
 * unless it is among the variables.
 */
export async function startProcess(variables: Variables, cwd: string, node?: string) {
  const program = await begin(variables, cwd, [], node);
  const [, url = ''] = await program.prints(/WebHook answers at (\S+)/);
  const { WORKERS = '1' } = variables;
  // One process has started before it prints its address; of several, only the first.
  if (WORKERS !== '1') await program.prints(new RegExp(`(?:"started"[^]*){${WORKERS}}`));
  return {
    ...program,
    /** Absolute address of the endpoint, as the process printed it. */
    url,
    /** Waits for a log line with this message and returns its fields. */
    async logged(message: string): Promise<Readonly<Record<string, unknown>>> {
      const text = JSON.stringify(message).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
      const [line] = await program.prints(new RegExp(`^\\{.*"msg":${text}.*\\}(?=\n)`, 'm'));
      return JSON.parse(line) as Readonly<Record<string, unknown>>;
    },
  };
}

/** Sends a signal. Returns whether the process is still there. */
export function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Writes the `.env` file of a service. */
export async function configure(folder: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(folder, '.env'), lines.join(''));
}

/** Variables with which a program of Node runs this code first. */
export async function preloaded(folder: string, code: string): Promise<{ NODE_OPTIONS: string }> {
  const file = join(folder, 'preload.cjs');
  await writeFile(file, code);
  return { NODE_OPTIONS: `--require=${file}` };
}

/** The log lines in what a process printed. */
export function logLines(output: string): Readonly<Record<string, unknown>>[] {
  const lines = output.split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Runs the service with settings that should stop its start; resolves to its exit code and what it printed. */
export async function runToEnd(
  variables: Variables,
  cwd: string,
  args: readonly string[] = [],
): Promise<{ code: number | NodeJS.Signals | null; output: string }> {
  const program = await begin(variables, cwd, args);
  return { code: await program.ended, output: program.output() };
}
