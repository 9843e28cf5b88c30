import { eventually } from './eventually';
import { run, SERVICE, TOOL } from './program.cjs';

export { TOOL };

/** The tool for the event log, as a process that runs. */
export type RunningTool = ReturnType<typeof startTool>;

type Variables = Readonly<Record<string, string>>;

/** Starts the tool with arguments and variables, of which EVENT_LOG names the log. */
export function startTool(args: readonly string[], variables: Variables, cwd: string) {
  const program = run([process.execPath, SERVICE, 'events', ...args], { cwd, variables });
  return {
    ...program,
    output: () => program.printed.out,
    ...saying(() => program.printed.errors, program.ended),
    /** Stops reading standard error, as a program does that ends before the tool. */
    stopListening: () => void program.child.stderr?.destroy(),
  };
}

/** What is asked of a tool while it runs. */
export function saying<T>(errors: () => string, ended: Promise<T>) {
  let isOver = false;
  void ended.then(() => (isOver = true));
  return {
    errors,
    /** Waits until it has printed a text on standard error. */
    said: (wanted: string) =>
      eventually(`the tool says ${wanted}`, () => {
        if (!errors().includes(wanted) && isOver) throw new Error(`the tool ended: ${errors()}`);
        return errors().includes(wanted);
      }),
    /** Resolves to the exit code, or to the signal that ended it. */
    ended,
  };
}

/** Runs the tool to its end. */
export async function runTool(args: readonly string[], variables: Variables, cwd: string) {
  const tool = startTool(args, variables, cwd);
  return { code: await tool.ended, output: tool.output(), errors: tool.errors() };
}
