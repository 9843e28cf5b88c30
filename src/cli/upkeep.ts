import { sequenceOf } from '../events/position';
import { ArchiveLine } from '../events/archive-line';
import type { Config } from '../config/config';
import { EventLogError, isFileLog, type EventLog, type FileLog } from '../log/event-log';
import { plainReason, visible } from '../util/text';
import { FROM_THE_FIRST, positionsOf } from './scan';
import { UsageError } from './terminal';

/**
 * Copies a log in SQLite, as it is at one moment, to a new file.
 *
 * @throws {UsageError} the log is not in SQLite.
 */
export async function backUp(file: string, log: EventLog): Promise<void> {
  if (!isFileLog(log)) {
    throw new UsageError('backup copies a SQLite file. Use export for any other event log.');
  }
  await log.backup(file);
  console.error(`${file} is a copy of the log.`);
}

/**
 * Puts the events of a copy that {@link backUp} made in the place of those of a log in SQLite, which is copied before.
 *
 * @throws {UsageError} the log is not in SQLite.
 */
export async function restore(backup: string, location: Config['eventLog']): Promise<void> {
  if (location.restore === undefined)
    throw new UsageError(`restore works on a SQLite file. Use import for ${location.engine}.`);
  const copy = await location.restore(backup);
  console.error(copy === undefined ? 'Restored.' : `Restored. ${copy} is a copy of the log as it was before.`);
}

/**
 * Gives the space of forgotten events back, and says how much that was.
 *
 * @throws {UsageError} the log is not in SQLite.
 */
export async function compact(log: EventLog): Promise<void> {
  if (!isFileLog(log))
    throw new UsageError('compact works on a SQLite file. Servers of other event logs give space back by themselves.');
  console.error(`${String(await log.compact())} bytes given back.`);
}

/** How many bytes of a file SQLite writes anew in a second on a common machine. */
const REWRITTEN_PER_SECOND = 70e6;

/**
 * Removes events from a log for good, each named by its id or its sequence. An unknown name does not stop the rest: an earlier run
 * that was interrupted may have removed that event.
 *
 * @param rewrite - whether a file is written anew, without remains in its free space.
 * @throws names that do not name exactly one event; the message has a line for each.
 */
export async function forgetEvents(names: readonly string[], log: EventLog, rewrite: boolean): Promise<void> {
  const { positions, problems } = await positionsOf(names, log);
  if (rewrite && !isFileLog(log)) throw new UsageError('--rewrite works on a SQLite file.');
  const forgotten = await log.forget(positions);
  if (rewrite && isFileLog(log)) {
    await warnOfWait(log);
    await log.rewrite();
  }
  console.error(`${String(forgotten.length)} removed.`);
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** Warns how long calls that record will wait for a file in SQLite, if that may be noticed. */
async function warnOfWait(log: FileLog): Promise<void> {
  const { bytes } = await log.stats();
  const seconds = Math.round(bytes / REWRITTEN_PER_SECOND);
  if (seconds === 0) return;
  console.error(
    `The file is written anew (${String(Math.round(bytes / 1e6))} MB). Calls that record wait meanwhile, for about ` +
      `${String(seconds)} seconds, and fail after 5.`,
  );
}

/** Verifies a log and prints each finding on a line. Resolves to whether the log is whole. */
export async function verifyLog(log: EventLog): Promise<boolean> {
  const findings = new Findings();
  if (process.stderr.isTTY) console.error('Verifying how the log is kept …');
  await findings.during('', async () => {
    for (const finding of await log.verify()) findings.report(finding);
  });
  const events = await verifyEvents(log, findings);
  const outcome = findings.count === 0 ? 'The log is whole.' : `Findings: ${String(findings.count)}.`;
  console.error(`${String(events)} events verified. ${outcome}`);
  return findings.count === 0;
}

/** Verifies the events one by one, and resolves to how many there were. */
async function verifyEvents(log: EventLog, findings: Findings): Promise<number> {
  let last = 0;
  let events = 0;
  await findings.during('Reading the events: ', async () => {
    for await (const page of log.pages(FROM_THE_FIRST)) {
      for (const event of page) {
        const problem =
          event.position > last ? ArchiveLine.problemOf(event) : 'it does not come after the event before it';
        if (problem !== undefined) findings.report(`Event ${sequenceOf(event.position)}: ${problem}.`);
        last = event.position;
      }
      events += page.length;
    }
  });
  return events;
}

/** Prints what was found, and counts it. */
class Findings {
  count = 0;

  report(finding: string): void {
    this.count++;
    console.log(visible(finding));
  }

  /** Does something with the log; that it cannot be read is a finding too. */
  async during(what: string, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof EventLogError)) throw error;
      this.report(`${what}${plainReason(error)}`);
    }
  }
}
