import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from './eventually';

const DIST = join(__dirname, '..', '..', 'dist');
export const MAIN = join(DIST, 'main.js');

/** The compiled tool, by the name of 1.0. */
export const TOOL = join(DIST, 'cli', 'events.js');

/** The tool for the event log, as a process that runs. */
export interface RunningTool {
  /** What it has printed so far on standard error. */
  errors(): string;
  /** Stops reading standard error, as a program does that ends before the tool. */
  stopListening(): void;
  /** Waits until it has printed a text on standard error. */
  said(text: string): Promise<void>;
  /** Waits for its end; resolves to the exit code, or to the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

const running = new Set<ChildProcess>();

// Kills what a failed test left running.
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts the tool with arguments and variables, of which EVENT_LOG names the log. */
export function startTool(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  cwd: string,
): RunningTool {
  const env = { PATH: process.env.PATH ?? '', ...variables };
  const child = spawn(process.execPath, [MAIN, 'events', ...args], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  running.add(child);
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = (once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>).then(([code, signal]) => {
    running.delete(child);
    return code ?? signal;
  });
  return {
    errors: () => text,
    stopListening: () => {
      child.stderr.destroy();
    },
    said: (wanted) =>
      eventually(`the tool says ${wanted}`, () => {
        if (!text.includes(wanted) && !running.has(child)) throw new Error(`the tool ended: ${text}`);
        return text.includes(wanted);
      }),
    ended,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
