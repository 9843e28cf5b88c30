import { Console } from 'node:console';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { runCompareTool } from '../../src/cli/compare/main';
import { runEventsTool } from '../../src/cli/events';
import { saying } from './tool';

/** A tool that runs in this process. */
type ToolHere = ReturnType<typeof start>;

type Variables = Readonly<Record<string, string>>;

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

let runningTool: Pick<ToolHere, 'end'> | undefined;

// Stops what a failed test left running.
afterAll(() => runningTool?.end('SIGTERM'));

/**
 * Runs the tool for the event log in this process, with arguments and variables, of which EVENT_LOG names the log. One can run at a
 * time; a process takes half a second longer.
 *
 * @param options.isTerminal - whether input and output are a terminal.
 */
export function startToolHere(
  args: readonly string[],
  variables: Variables,
  cwd: string,
  { isTerminal = false } = {},
): ToolHere {
  return start(runEventsTool, args, variables, cwd, isTerminal);
}

/** Runs the tool for the event log in this process to its end. */
export function runToolHere(args: readonly string[], variables: Variables, cwd: string) {
  return resultOf(startToolHere(args, variables, cwd));
}

/** Runs the tool that compares two services in this process to its end. */
export function runCompareHere(args: readonly string[], cwd: string, variables: Variables = {}) {
  return resultOf(start(runCompareTool, args, variables, cwd, false));
}

async function resultOf(tool: ToolHere): Promise<{ code: number; output: string; errors: string }> {
  return { code: await tool.ended, output: tool.output(), errors: tool.errors() };
}

function start(
  run: (args: readonly string[]) => Promise<void>,
  args: readonly string[],
  variables: Variables,
  cwd: string,
  isTerminal: boolean,
) {
  if (runningTool !== undefined) throw new Error('another tool runs in this process');
  const output = new Output(isTerminal);
  const errors = new Output(isTerminal);
  const input = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const earlier = new Set<unknown>(SIGNALS.flatMap((name) => process.rawListeners(name)));
  const restore = takeProcess(variables, cwd, input, output, errors);
  /** What the tool does at a signal; the jest worker has listeners of its own. */
  const reactions = (name: NodeJS.Signals) => process.rawListeners(name).filter((each) => !earlier.has(each));
  const ended = run(args).then(() => {
    for (const name of SIGNALS)
      for (const react of reactions(name)) process.removeListener(name, react as NodeJS.SignalsListener);
    runningTool = undefined;
    return restore();
  });
  const tool = {
    /** What it has printed so far on standard output. */
    output: () => output.text,
    ...saying(() => errors.text, ended),
    /** Types a line on its terminal. */
    type: (line: string) => void input.write(`${line}\n`),
    end(name: NodeJS.Signals): Promise<number> {
      for (const react of reactions(name)) react.call(process, name);
      return ended;
    },
  };
  runningTool = tool;
  return tool;
}

/** Gives a tool what it uses of this process. Returns a function that takes it back, and returns the exit code. */
function takeProcess(variables: Variables, cwd: string, stdin: PassThrough, stdout: Output, stderr: Output) {
  const { env, exitCode } = process;
  const before = { env, stdin: process.stdin, stdout: process.stdout, stderr: process.stderr };
  const [folder, console] = [process.cwd(), globalThis.console];
  const set = (members: Readonly<Record<string, unknown>>): void => {
    for (const [name, value] of Object.entries(members))
      Object.defineProperty(process, name, { value, configurable: true, enumerable: true, writable: true });
  };
  set({ env: { PATH: env.PATH ?? '', ...variables }, stdin, stdout, stderr });
  process.exitCode = undefined;
  process.chdir(cwd);
  globalThis.console = new Console(stdout, stderr);
  return (): number => {
    const code = Number(process.exitCode ?? 0);
    process.chdir(folder);
    process.exitCode = exitCode;
    globalThis.console = console;
    set(before);
    return code;
  };
}
