#!/usr/bin/env node
import { BUILD, requireNode } from '../util/program';
requireNode();
import { Option } from 'commander';
import {
  filterOptions,
  namedFile,
  selectionOf,
  sinceOption,
  sourceOptions,
  untilOption,
  type Values,
} from './events-options';
import { forwardCommand } from './forward/command';
import { triggerCommand } from './forward/trigger';
import { misuse, runProgram } from './terminal';
import { ToolCommand } from './tool-command';
import { eventLogOfTool, withLog, withSource } from './tool-log';

/** Returns the command line of the tool for the event log. Each command loads only what it needs. */
function eventsCommand(): ToolCommand {
  const program = new ToolCommand('asmx-webhook events');
  program
    .version(BUILD.name, '-v, --version')
    .description('Works on the event log that EVENT_LOG names, also while the service runs.')
    .addHelpText('after', `\n${NOTES}\n\n${EXIT_CODES}`);
  const archive = () => import('./archive.js');
  const upkeep = () => import('./upkeep.js');
  const command = (name: string, description: string, options: readonly Option[] = []) =>
    program.command(name).description(description).addOptions(options);
  const printing = () => [
    sinceOption(),
    ...filterOptions(),
    new Option('--json', 'print CloudEvents on a terminal, too, instead of a short line for each'),
    ...sourceOptions(),
  ];
  command('print', 'Print all events, or those --since', printing()).action((values: Values) =>
    withSource(values, async (log, stop) => (await archive()).printEvents(log, values, stop)),
  );
  command('follow', 'Print events as they are recorded, and before them those --since', printing()).action(
    (values: Values) => withSource(values, async (log, stop) => (await archive()).followEvents(log, values, stop)),
  );
  program.addCommand(forwardCommand());
  program.addCommand(triggerCommand());
  command('export <file>', 'Write all events, or those --since, to a new file', [
    sinceOption(),
    ...sourceOptions(),
  ]).action((file: string, values: Values) =>
    withSource(values, async (log, stop) => (await archive()).exportEvents(file, log, values, stop)),
  );
  command('import <file>', 'Record the events of a file that are not in the log yet').action(async (file: string) => {
    const { importEvents, openInput } = await archive();
    // Opened first: a mistyped name must not leave an empty log.
    const stream = await openInput(file);
    await withLog('import', (log) => importEvents(file, stream, log));
  });
  command('verify', 'Look for damage in the log and in each event; a line for each finding').action(() =>
    withLog('read', async (log) => (await upkeep()).verifyLog(log)),
  );
  command('forget [id...]', 'Remove events for good: those named by id or sequence, or all that a search finds', [
    sinceOption(),
    ...filterOptions(),
    untilOption(),
    new Option('--dry-run', 'print the events, and remove none'),
    new Option('--rewrite', 'also rewrite a SQLite file, without remains of keys; calls that record wait meanwhile'),
  ]).action(async (names: string[], values: Values) => {
    const search = selectionOf(values);
    if (names.length === 0 ? search === undefined : (search ?? values.since) !== undefined)
      throw misuse('Say what to remove: give ids or sequences, or a search.');
    const { forgetEvents } = await upkeep();
    await withLog('read', (log) => forgetEvents(search ?? { names }, log, values));
  });
  command('compact', 'Give the space of forgotten events in a SQLite file back to the file system').action(() =>
    withLog('read', async (log) => (await upkeep()).compact(log)),
  );
  command('backup', 'Copy a log in SQLite, as it is at one moment, to a new file')
    .argument('<file>', '', namedFile)
    .action((file: string) => withLog('read', async (log) => (await upkeep()).backUp(file, log)));
  command('restore', 'Put the events of such a copy in the place of those of the log, which is copied before')
    .argument('<file>', '', namedFile)
    .action(async (file: string) => (await upkeep()).restore(file, eventLogOfTool()));
  return program;
}

const NOTES = `Events are printed, exported and imported as one CloudEvent a line (NDJSON), with
what the log keeps beside it in the member _log; print and follow print short lines
on a terminal. A <file> may be - for standard output or input, except for backup, restore
and --position.`;

const EXIT_CODES = `Exit code: 0 done, 1 failed, or (verify) the log is not whole, or (export) damaged
events were left out, 2 arguments that make no sense.`;

/** Runs the tool with the environment of this process, and sets its exit code. */
export function runEventsTool(args: readonly string[]): Promise<void> {
  return runProgram(() => eventsCommand().run(args), 1);
}

// The name of 1.0: asmx-webhook-events.
if (require.main === module) void runEventsTool(process.argv.slice(2));
