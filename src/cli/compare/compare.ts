import { noAnswer, NoAnswerError, type HttpAnswer, type HttpClient } from '../http-client';
import { quoted } from '../terminal';
import { compareAnswers, seen, statusText, type Comparison } from './answers';
import { callsOf, type AskedOperation, type ComparedCall } from './calls';
import { differenceOf } from './canonical';
import { settingsFor } from './settings';
import { readService, type ComparedService } from './wsdl';

/** Comparing two services. */
export interface CompareTask {
  /** An address or the name of a file. */
  readonly old: string;
  /** An address or the name of a file. */
  readonly new: string;
  /** Operations to call besides the harmless ones. */
  readonly asked: readonly AskedOperation[];
}

/** Counts of a comparison. */
export interface Tally {
  readonly differences: number;
  /** How many calls could not be compared. */
  readonly failures: number;
  readonly calls: number;
}

/** Prints lines. */
type Print = (lines: readonly string[]) => Promise<void>;

/**
 * Compares two services and prints what was found as it goes.
 *
 * @throws {WsdlError} one of the WSDLs cannot be had.
 */
export async function compare(task: CompareTask, client: HttpClient, print: Print): Promise<Tally> {
  const old = await readService(task.old, client);
  const other = await readService(task.new, client);
  await print([`Old service: ${old.name}`, `New service: ${other.name}`, '']);
  const { places, lines } = differenceOf(old.wsdl.lines, other.wsdl.lines);
  const verdict = places === 0 ? 'a generated client sees no difference' : count(places);
  await print([`WSDL: ${verdict}`, ...lines]);
  await print([
    '',
    'Settings for the new service to take the place of the old one:',
    ...settingsFor(old.wsdl).lines.map((line) => `  ${line}`),
    '',
  ]);
  const calls = await compareCalls(old, other, task.asked, client, print);
  const differences = places + calls.differences;
  await print(['', summary(differences, calls)]);
  return { ...calls, differences };
}

const NO_CALLS: Tally = { differences: 0, failures: 0, calls: 0 };

async function compareCalls(
  old: ComparedService,
  other: ComparedService,
  asked: readonly AskedOperation[],
  client: HttpClient,
  print: Print,
): Promise<Tally> {
  if (old.endpoint === undefined || other.endpoint === undefined) {
    const which = old.endpoint === undefined ? 'old' : 'new';
    await print([`Calls: none was made, since the ${which} service is only a document.`]);
    return NO_CALLS;
  }
  const calls = callsOf(old.wsdl, other.wsdl, asked);
  await print([`Calls: ${String(calls.length)}, as a client of the old service makes them`]);
  let [differences, failures] = [0, 0];
  for (const call of calls) {
    const [before, after] = [await ask(call, old.endpoint, client), await ask(call, other.endpoint, client)];
    if (before instanceof NoAnswerError || after instanceof NoAnswerError || bothRefuse(before, after)) {
      failures++;
      await print(failureReport(call, before, after));
      continue;
    }
    const comparison = compareAnswers(call, seen(before), seen(after));
    if (comparison.intention === undefined) differences += comparison.places;
    await print(callReport(call, comparison));
  }
  return { differences, failures, calls: calls.length };
}

/** Statuses of services that let a caller in at another time, or with a key: such answers say nothing about the call. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 429, 503]);

function bothRefuse(old: HttpAnswer, other: HttpAnswer): boolean {
  return REFUSALS.has(old.status) && REFUSALS.has(other.status);
}

function ask(call: ComparedCall, endpoint: URL, client: HttpClient): Promise<HttpAnswer | NoAnswerError> {
  const url = new URL(endpoint);
  const [path = '', ...query] = call.location.split('?');
  url.pathname += path;
  url.search = query.join('?');
  return client.ask(url, call).catch(noAnswer);
}

function failureReport(
  call: ComparedCall,
  old: HttpAnswer | NoAnswerError,
  other: HttpAnswer | NoAnswerError,
): string[] {
  const sides = Object.entries({ old, new: other }).flatMap(([side, answer]) => {
    if (answer instanceof NoAnswerError) return [`  the ${side} service: ${quoted(answer.message)}`];
    return REFUSALS.has(answer.status) ? [`  the ${side} service refuses the caller: ${statusText(answer)}`] : [];
  });
  return [`${titleOf(call)}: could not be compared`, ...sides];
}

function summary(differences: number, { calls, failures }: Tally): string {
  const found = differences === 0 ? 'A client sees no difference' : `A client sees ${count(differences)}`;
  if (failures > 0) return `${found}; ${String(failures)} of ${String(calls)} calls could not be compared.`;
  return calls === 0 ? `${found}, as far as the WSDLs tell.` : `${found}.`;
}

/** Says how the answers to a call compare. */
function callReport(call: ComparedCall, { places, lines, intention }: Comparison): string[] {
  const differs = intention === undefined ? count(places) : `differs on purpose: ${intention}`;
  return [`${titleOf(call)}: ${places === 0 ? 'same' : differs}`, ...lines];
}

function titleOf({ name }: ComparedCall): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** `1 difference`, `2 differences`. */
function count(differences: number): string {
  return `${String(differences)} difference${differences === 1 ? '' : 's'}`;
}
