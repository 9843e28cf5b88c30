import { EventLogError, type EventLog } from '../events/event-log';
import { eventProblem } from '../events/event-problem';
import { messageChain } from '../lang/message-chain';
import { visible } from '../lang/visible';
import { pagesOf } from './pages';
import { progressBar } from './progress';
import { FROM_THE_FIRST } from './since';

/**
 * Verifies a log and prints each finding on a line. Resolves to whether the log is whole.
 *
 * @throws {EventLogError} the log cannot be read at all.
 */
export async function verifyLog(log: EventLog): Promise<boolean> {
  if (process.stderr.isTTY) console.error('Verifying how the log is kept …');
  let findings = 0;
  const report = (finding: string): void => {
    findings++;
    console.log(visible(finding));
  };
  for (const finding of await log.verify()) report(finding);
  const events = await verifyEvents(log, report);
  const outcome = findings === 0 ? 'The log is whole.' : `${String(findings)} findings.`;
  console.error(`${String(events)} events verified. ${outcome}`);
  return findings === 0;
}

/** Verifies the events one by one, and resolves to how many there were. */
async function verifyEvents(log: EventLog, report: (finding: string) => void): Promise<number> {
  let events = 0;
  const total = await log.count();
  const progress = progressBar('verified', total);
  try {
    for await (const page of pagesOf(log, FROM_THE_FIRST)) {
      for (const event of page) {
        const problem = eventProblem(event);
        if (problem !== undefined) report(`Event ${event.sequence}: ${problem}.`);
      }
      events += page.length;
      progress?.update(events);
    }
  } catch (error) {
    if (!(error instanceof EventLogError)) throw error;
    report(`After ${String(events)} events: ${messageChain(error)}`);
  } finally {
    progress?.stop();
  }
  return events;
}
