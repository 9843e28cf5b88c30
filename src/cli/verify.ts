import { EventLogError, type EventLog } from '../log/event-log';
import { eventProblem } from '../events/event-problem';
import { messageChain } from '../util/message-chain';
import { visible } from '../util/visible';
import { pagesOf } from './pages';
import { progressBar } from './progress';
import { FROM_THE_FIRST } from './since';

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
  let last = '';
  let events = 0;
  await findings.during('Reading the events: ', async () => {
    const progress = progressBar('verified', await log.count());
    try {
      for await (const page of pagesOf(log, FROM_THE_FIRST)) {
        for (const event of page) {
          const problem = event.sequence > last ? eventProblem(event) : 'it does not come after the event before it';
          if (problem !== undefined) findings.report(`Event ${event.sequence}: ${problem}.`);
          last = event.sequence;
        }
        events += page.length;
        progress?.update(events);
      }
    } finally {
      progress?.stop();
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
      this.report(`${what}${messageChain(error)}`);
    }
  }
}
