#!/usr/bin/env node
import '../config/require-node';
import { eventLogSettings, loadConfig, type Config } from '../config/config';
import { VERSION } from '../config/package-info';
import { logProblem } from '../config/start-problem';
import type { EventLog } from '../log/event-log';
import { openEventLog, openExistingEventLog } from '../log/open-event-log';
import { messageChain } from '../util/message-chain';
import { parseTask, UsageError, type LogTask } from './options';
import { endOf, FROM_THE_FIRST } from './since';
import { USAGE } from './usage';

async function main(): Promise<void> {
  const task = parseTask(process.argv.slice(2));
  if (task.name === 'help') console.log(USAGE);
  else if (task.name === 'version') console.log(VERSION);
  else await perform(task);
}

/** Loads only what the task needs. */
async function perform(task: LogTask): Promise<void> {
  switch (task.name) {
    case 'print': {
      const { printEvents } = await import('./print.js');
      return withLog(openExistingEventLog, async (log) =>
        printEvents(log, task.since ?? (await endOf(log)), task.follow),
      );
    }
    case 'forward': {
      const { forwardEvents } = await import('./forward/forward.js');
      return withLog(openExistingEventLog, (log, { forwardSecrets }) =>
        forwardEvents(log, { ...task, secrets: task.secrets ?? forwardSecrets }),
      );
    }
    case 'export': {
      const { exportEvents } = await import('./export.js');
      return withLog(openExistingEventLog, (log) => exportEvents(task.file, log, task.since ?? FROM_THE_FIRST));
    }
    case 'import': {
      const { importEvents, openInput } = await import('./import.js');
      // Opened first: a mistyped name must not leave an empty log.
      const input = await openInput(task.file);
      return withLog(openEventLog, (log) => importEvents(input, log));
    }
    case 'backup': {
      const { backUp } = await import('./backup.js');
      return withLog(openExistingEventLog, (log) => backUp(task.file, log));
    }
    case 'compact': {
      const { compact } = await import('./compact.js');
      return withLog(openExistingEventLog, compact);
    }
    case 'verify': {
      const { verifyLog } = await import('./verify.js');
      return withLog(openExistingEventLog, async (log) => {
        if (!(await verifyLog(log))) process.exitCode = 1;
      });
    }
    case 'forget': {
      const { forgetEvents } = await import('./forget.js');
      return withLog(openExistingEventLog, (log) => forgetEvents(task.events, log));
    }
  }
}

/** Opens the log that EVENT_LOG names, and closes it however the work on it ends. */
async function withLog(
  open: typeof openEventLog,
  work: (log: EventLog, config: Config) => Promise<void>,
): Promise<void> {
  const config = loadConfig();
  const log = await open(config.eventLog, eventLogSettings(config)).catch(async (error: unknown) => {
    const problem = await logProblem(config);
    throw problem === undefined ? error : new Error(problem);
  });
  try {
    await work(log, config);
  } finally {
    await log.close();
  }
}

/** Ends the program: with the reason, or in silence where nobody reads its output any more. */
function fail(error: unknown): void {
  process.exitCode = exitCodeOf(error);
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit();
  console.error(messageChain(error));
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2;
  return error instanceof Error && error.name === 'RefusedError' ? 3 : 1;
}

process.stdout.on('error', fail);
// What forwards goes on when nobody reads what it says any more.
process.stderr.on('error', () => undefined);
main().catch(fail);
