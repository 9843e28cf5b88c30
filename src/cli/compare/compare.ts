import { compareAnswers, seen, type SeenAnswer } from './answers';
import { callsOf, type Call } from './calls';
import { NoAnswerError, type Answer, type HttpClient } from '../http-client';
import { quoted } from '../terminal';
import type { CompareTask } from './compare-task';
import { addressReport, callReport, count, otherFields } from './report';
import { settingsFor } from './settings';
import { readService, type Service } from './wsdl';
import { differencesOf } from './part';

/** What comparing two services came to. */
export interface Outcome {
  readonly differences: number;
  /** How many calls could not be compared. */
  readonly failures: number;
  readonly calls: number;
}

/** How the comparison is shown. */
export interface Output {
  readonly print: (lines: readonly string[]) => void;
  /** Characters in a line. */
  readonly width: number;
}

/**
 * Compares two services and prints what was found as it goes.
 *
 * @throws {WsdlError} one of the WSDLs cannot be had.
 */
export async function compare(task: CompareTask, client: HttpClient, { print, width }: Output): Promise<Outcome> {
  const old = await readService(task.old, client);
  const other = await readService(task.new, client);
  print([`Old service: ${old.name}`, `New service: ${other.name}`, '']);
  const inContract = contractDifferences(old, other);
  const verdict = inContract.length === 0 ? 'a generated client sees no difference' : count(inContract.length);
  print([`WSDL: ${verdict}`, ...inContract.map((difference) => `  - ${difference}`)]);
  print(['', 'Addresses in the WSDLs, which are not compared:', ...addressReport(old.wsdl, other.wsdl)]);
  print([
    '',
    'Settings for the new service to take the place of the old one:',
    ...indented(settingsFor(old.wsdl).lines),
    '',
  ]);
  const calls = task.makesCalls ? await compareCalls(old, other, task, client, { print, width }) : NO_CALLS;
  const differences = inContract.length + calls.differences;
  print(['', summary(differences, calls)]);
  return { ...calls, differences };
}

const NO_CALLS: Outcome = { differences: 0, failures: 0, calls: 0 };

function contractDifferences(old: Service, other: Service): string[] {
  const namespaces = { old: old.wsdl.targetNamespace, new: other.wsdl.targetNamespace };
  const differences = differencesOf(old.wsdl.contract, other.wsdl.contract, namespaces);
  if (namespaces.old === namespaces.new) return differences;
  const texts = `${quoted(namespaces.old)} in the old service, ${quoted(namespaces.new)} in the new one`;
  return [`The target namespace is ${texts}; names and SOAPActions in it differ with it.`, ...differences];
}

async function compareCalls(
  old: Service,
  other: Service,
  { asked, isBrief }: CompareTask,
  client: HttpClient,
  { print, width }: Output,
): Promise<Outcome> {
  if (old.endpoint === undefined || other.endpoint === undefined) {
    const which = old.endpoint === undefined ? 'old' : 'new';
    print([`Calls: none was made, since the ${which} service is only a document.`]);
    return NO_CALLS;
  }
  const calls = callsOf(old.wsdl, other.wsdl, asked);
  print([`Calls: ${String(calls.length)}, as a client of the old service makes them`]);
  const answers: { old: SeenAnswer; new: SeenAnswer }[] = [];
  let [differences, failures] = [0, 0];
  for (const call of calls) {
    const [before, after] = [await ask(call, old.endpoint, client), await ask(call, other.endpoint, client)];
    if (before instanceof NoAnswerError || after instanceof NoAnswerError) {
      failures++;
      print(failureReport(call, before, after));
      continue;
    }
    const pair = { old: seen(before), new: seen(after) };
    answers.push(pair);
    const comparison = compareAnswers(call, pair.old, pair.new);
    differences += comparison.differences.length;
    print(callReport(call, pair, comparison, { isBrief, width }));
  }
  const others = (side: 'old' | 'new'): string => otherFields(answers.map((pair) => pair[side]));
  print(['', 'Header fields that were not compared:', `  old: ${others('old')}`, `  new: ${others('new')}`]);
  return { differences, failures, calls: calls.length };
}

async function ask(call: Call, endpoint: URL, client: HttpClient): Promise<Answer | NoAnswerError> {
  const url = new URL(endpoint);
  const [path = '', ...query] = call.location.split('?');
  url.pathname += path;
  url.search = query.join('?');
  try {
    return await client.ask(url, call);
  } catch (error) {
    if (error instanceof NoAnswerError) return error;
    throw error;
  }
}

function failureReport(call: Call, old: Answer | NoAnswerError, other: Answer | NoAnswerError): string[] {
  const sides = Object.entries({ old, new: other }).flatMap(([side, answer]) =>
    answer instanceof NoAnswerError ? [`  the ${side} service: ${quoted(answer.message)}`] : [],
  );
  return ['', `${call.name}: could not be compared`, ...sides];
}

function summary(differences: number, { calls, failures }: Outcome): string {
  const found = differences === 0 ? 'A client sees no difference' : `A client sees ${count(differences)}`;
  if (failures > 0) return `${found}; ${String(failures)} of ${String(calls)} calls could not be compared.`;
  return calls === 0 ? `${found}, as far as the WSDLs tell.` : `${found}.`;
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
