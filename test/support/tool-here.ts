import { Console } from 'node:console';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { runCompareTool } from '../../src/cli/compare/main';
import { runEventsTool } from '../../src/cli/events';
import { eventually } from './eventually';
import type { RunningTool } from './tool';

/** A tool that runs in this process. */
export interface ToolHere extends Omit<RunningTool, 'stopListening'> {
  /** Types a line on its terminal. */
  type(line: string): void;
  /** What it has printed so far on standard output. */
  output(): string;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Takes what a tool prints. It is a socket, as a pipe would be. */
class Output extends Socket {
  text = '';

  constructor(readonly isTTY: boolean) {
    super();
  }

  override write(chunk: Uint8Array | string, ...rest: unknown[]): boolean {
    this.text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = rest.at(-1);
    if (typeof done === 'function') (done as () => void)();
    return true;
  }
}

let running: Promise<unknown> | undefined;
let stopRunning: (() => void) | undefined;

// Stops what a failed test left running.
afterAll(async () => {
  stopRunning?.();
  await running;
});

/**
 * Runs the tool for the event log in this process, with arguments and variables, of which EVENT_LOG names the log. One can run at a
 * time; a process takes half a second longer.
 *
 * @param options.isTerminal - whether input and output are a terminal.
 */
export function startToolHere(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  cwd: string,
  { isTerminal = false } = {},
): ToolHere {
  return start(runEventsTool, args, variables, cwd, isTerminal);
}

/** Runs the tool for the event log in this process to its end. */
export function runToolHere(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  cwd: string,
): Promise<{ code: number; output: string; errors: string }> {
  return resultOf(startToolHere(args, variables, cwd));
}

/** Runs the tool that compares two services in this process to its end. */
export function runCompareHere(
  args: readonly string[],
  cwd: string,
): Promise<{ code: number; output: string; errors: string }> {
  return resultOf(start(runCompareTool, args, {}, cwd));
}

async function resultOf(tool: ToolHere): Promise<{ code: number; output: string; errors: string }> {
  return { code: Number(await tool.ended), output: tool.output(), errors: tool.errors() };
}

function start(
  run: (args: readonly string[]) => Promise<void>,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  cwd: string,
  isTerminal = false,
): ToolHere {
  if (running !== undefined) throw new Error('another tool runs in this process');
  const output = new Output(isTerminal);
  const errors = new Output(isTerminal);
  const input = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const earlier = new Set<unknown>(SIGNALS.flatMap((name) => process.rawListeners(name)));
  const restore = takeProcess(variables, cwd, input, output, errors);
  /** What the tool does at a signal; the jest worker has listeners of its own. */
  const reactions = (name: NodeJS.Signals) => process.rawListeners(name).filter((each) => !earlier.has(each));
  const signal = (name: NodeJS.Signals): void => {
    for (const react of reactions(name)) react.call(process, name);
  };
  let isOver = false;
  const ended = run(args).then(() => {
    isOver = true;
    for (const name of SIGNALS)
      for (const react of reactions(name)) process.removeListener(name, react as NodeJS.SignalsListener);
    running = undefined;
    return restore();
  });
  running = ended;
  stopRunning = () => {
    signal('SIGTERM');
  };
  return {
    output: () => output.text,
    errors: () => errors.text,
    type: (line) => void input.write(`${line}\n`),
    said: (wanted) =>
      eventually(`the tool says ${wanted}`, () => {
        if (!errors.text.includes(wanted) && isOver) throw new Error(`the tool ended: ${errors.text}`);
        return errors.text.includes(wanted);
      }),
    ended,
    end(name) {
      signal(name);
      return ended;
    },
  };
}

/** Gives a tool what it uses of this process. Returns a function that takes it back, and returns the exit code. */
function takeProcess(
  variables: Readonly<Record<string, string>>,
  cwd: string,
  input: PassThrough,
  output: Output,
  errors: Output,
): () => number {
  const { env, stdin, stdout, stderr, exitCode } = process;
  const before = { cwd: process.cwd(), console: globalThis.console };
  const set = (members: Readonly<Record<string, unknown>>): void => {
    for (const [name, value] of Object.entries(members))
      Object.defineProperty(process, name, { value, configurable: true, enumerable: true, writable: true });
  };
  set({
    env: { PATH: env.PATH ?? '', ...variables },
    stdin: input,
    stdout: output,
    stderr: errors,
  });
  process.exitCode = undefined;
  process.chdir(cwd);
  globalThis.console = new Console(output, errors);
  return () => {
    const code = Number(process.exitCode ?? 0);
    process.chdir(before.cwd);
    process.exitCode = exitCode;
    globalThis.console = before.console;
    set({ env, stdin, stdout, stderr });
    return code;
  };
}
