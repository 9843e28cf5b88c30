#!/usr/bin/env node
import { requireNode, VERSION } from '../config/package-info';
requireNode();
import { eventLogSettings, loadConfig, type Config } from '../config/config';
import { logProblem } from '../config/start-problem';
import type { EventLog } from '../log/event-log';
import { openEventLog, openExistingEventLog } from '../log/open-event-log';
import { parseTask, USAGE, type LogTask } from './events-task';
import { endOf, FROM_THE_FIRST } from './scan';
import { runProgram, UsageError } from './terminal';

/** How a task opens the log; `import` makes one where it is missing. */
type Access = 'read' | 'write' | 'import';

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
      const { printEvents } = await import('./archive.js');
      return withLog('read', async (log) => printEvents(log, task.since ?? (await endOf(log)), task.follow));
    }
    case 'forward': {
      const { forwardEvents } = await import('./forward/forward.js');
      return withLog('read', (log, { forwardSecrets }) =>
        forwardEvents(log, { ...task, secrets: task.secrets ?? forwardSecrets }),
      );
    }
    case 'export': {
      const { exportEvents } = await import('./archive.js');
      return withLog('read', async (log) => {
        if (!(await exportEvents(task.file, log, task.since ?? FROM_THE_FIRST))) process.exitCode = 1;
      });
    }
    case 'import': {
      const { importEvents, openInput } = await import('./archive.js');
      // Opened first: a mistyped name must not leave an empty log.
      const input = await openInput(task.file);
      return withLog('import', async (log) => {
        if (!(await importEvents(input, log))) process.exitCode = 1;
      });
    }
    case 'backup': {
      const { backUp } = await import('./upkeep.js');
      return withLog('write', (log) => backUp(task.file, log));
    }
    case 'restore': {
      const { restore } = await import('./upkeep.js');
      return restore(task.file, loadConfig().eventLog);
    }
    case 'compact': {
      const { compact } = await import('./upkeep.js');
      return withLog('write', compact);
    }
    case 'verify': {
      const { verifyLog } = await import('./upkeep.js');
      return withLog('read', async (log) => {
        if (!(await verifyLog(log))) process.exitCode = 1;
      });
    }
    case 'forget': {
      const { forgetEvents } = await import('./upkeep.js');
      return withLog('write', (log) => forgetEvents(task.events, log));
    }
  }
}

/** Opens the log that EVENT_LOG names, and closes it however the work on it ends. */
async function withLog(access: Access, work: (log: EventLog, config: Config) => Promise<void>): Promise<void> {
  const config = loadConfig();
  const log = await openLog(access, config).catch(async (error: unknown) => {
    const problem = await logProblem(config, access === 'read' ? 'read' : 'write');
    throw problem === undefined ? error : new Error(problem);
  });
  log.observe({
    lost(problem) {
      console.error(`A file of the event log was lost: ${problem}`);
    },
  });
  try {
    await work(log, config);
  } finally {
    await log.close();
  }
}

function openLog(access: Access, config: Config): Promise<EventLog> {
  const settings = eventLogSettings(config);
  if (access !== 'import') return openExistingEventLog(config.eventLog, settings, access);
  // What is past retention would be forgotten meanwhile, and recorded again by the next import.
  return openEventLog(config.eventLog, { ...settings, forgets: false });
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2;
  return error instanceof Error && error.name === 'RefusedError' ? 3 : 1;
}

runProgram(main, exitCodeOf);
