import { eventually } from './eventually';
import { run, SERVICE, TOOL } from './program.cjs';

export { SERVICE as MAIN, TOOL };

/** The tool for the event log, as a process that runs. */
export interface RunningTool {
  /** What it has printed so far on standard output. */
  output(): string;
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

type Variables = Readonly<Record<string, string>>;

/** Starts the tool with arguments and variables, of which EVENT_LOG names the log. */
export function startTool(args: readonly string[], variables: Variables, cwd: string): RunningTool {
  const { child, printed, ended } = run([process.execPath, SERVICE, 'events', ...args], { cwd, variables });
  let isOver = false;
  void ended.then(() => (isOver = true));
  return {
    output: () => printed.out,
    errors: () => printed.errors,
    stopListening: () => {
      child.stderr?.destroy();
    },
    said: (wanted) =>
      eventually(`the tool says ${wanted}`, () => {
        if (!printed.errors.includes(wanted) && isOver) throw new Error(`the tool ended: ${printed.errors}`);
        return printed.errors.includes(wanted);
      }),
    ended,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs the tool to its end. */
export async function runTool(args: readonly string[], variables: Variables, cwd: string) {
  const tool = startTool(args, variables, cwd);
  return { code: await tool.ended, output: tool.output(), errors: tool.errors() };
}
