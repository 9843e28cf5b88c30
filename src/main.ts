#!/usr/bin/env node
import { requireNode, STOP_SIGNALS } from './util/program';

requireNode();
// Process 1 of a container gets no signal without a listener, and loading the rest takes most of a start's time.
for (const signal of STOP_SIGNALS) process.on(signal, endStart);
void start();

/** Ends a process that is still starting. Does nothing once the service has added its own listener. */
function endStart(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) === 1) process.exit(0);
}

async function start(): Promise<void> {
  const [command, ...args] = process.argv.slice(2);
  const { answerCommandLine, toolNamed } = await import('./cli/command-line.js');
  const runTool = toolNamed(command);
  if (runTool !== undefined) {
    // Without a listener a signal ends the tool, and the exit code says so.
    for (const signal of STOP_SIGNALS) process.off(signal, endStart);
    return runTool(args);
  }
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
