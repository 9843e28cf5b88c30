#!/usr/bin/env node
import { requireNode, STOP_SIGNALS } from './util/program';

requireNode();
const [command, ...args] = process.argv.slice(2);
// Process 1 of a container gets no signal without a listener, and loading the rest takes most of a start's time. A command that a signal
// ends must not exit with 0: from `--ready` that means that the service is ready.
if (command === undefined) for (const signal of STOP_SIGNALS) process.on(signal, endStart);
void start();

/** Ends a service that is still starting. Does nothing once it has added its own listener. */
function endStart(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) === 1) process.exit(0);
}

async function start(): Promise<void> {
  const { answerCommandLine, toolNamed } = await import('./cli/command-line.js');
  const runTool = toolNamed(command);
  if (runTool !== undefined) return runTool(args);
  const { fail, runService } = await import('./run.js');
  try {
    const answer = await answerCommandLine(command);
    if (answer === undefined) await runService();
    else {
      console[answer.exitCode === 0 ? 'log' : 'error'](answer.text);
      process.exitCode = answer.exitCode;
    }
  } catch (error) {
    fail(error);
  }
}
