import { STATUS_CODES } from 'node:http';
import { diffArrays } from 'diff';
import { shortened } from '../../util/text';
import { noAnswer, NoAnswerError, type HttpAnswer, type HttpClient } from '../http-client';
import { printable, quoted } from '../terminal';
import {
  bodyLines,
  compareAnswers,
  COMPARED_FIELDS,
  fieldName,
  seen,
  shownField,
  type Comparison,
  type SeenAnswer,
} from './answers';
import { callsOf, type AskedOperation, type ComparedCall } from './calls';
import { differencesOf } from './contract';
import { settingsFor } from './settings';
import { readService, type ComparedService, type Wsdl } from './wsdl';

/** Comparing two services. */
export interface CompareTask {
  /** An address or the name of a file. */
  readonly old: string;
  /** An address or the name of a file. */
  readonly new: string;
  readonly isBrief: boolean;
  readonly isVerbose: boolean;
  readonly makesCalls: boolean;
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
  const inContract = contractDifferences(old, other);
  const verdict = inContract.length === 0 ? 'a generated client sees no difference' : count(inContract.length);
  await print([`WSDL: ${verdict}`, ...inContract.map((difference) => `  - ${difference}`)]);
  await print(['', 'Addresses in the WSDLs, which are not compared:', ...addressReport(old.wsdl, other.wsdl)]);
  await print([
    '',
    'Settings for the new service to take the place of the old one:',
    ...settingsFor(old.wsdl).lines.map((line) => `  ${line}`),
    '',
  ]);
  const calls = task.makesCalls ? await compareCalls(old, other, task, client, print) : NO_CALLS;
  const differences = inContract.length + calls.differences;
  await print(['', summary(differences, calls)]);
  return { ...calls, differences };
}

const NO_CALLS: Tally = { differences: 0, failures: 0, calls: 0 };

function contractDifferences(old: ComparedService, other: ComparedService): string[] {
  const differences = differencesOf(old.wsdl.contract, other.wsdl.contract);
  const [before, after] = [old.wsdl.targetNamespace, other.wsdl.targetNamespace];
  if (before === after) return differences;
  const texts = `${quoted(before)} in the old service, ${quoted(after)} in the new one`;
  return [`The target namespace is ${texts}; names and SOAPActions in it differ with it.`, ...differences];
}

async function compareCalls(
  old: ComparedService,
  other: ComparedService,
  { asked, isBrief, isVerbose }: CompareTask,
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
  const answers: { old: SeenAnswer; new: SeenAnswer }[] = [];
  let [differences, failures, same] = [0, 0, 0];
  for (const call of calls) {
    const [before, after] = [await ask(call, old.endpoint, client), await ask(call, other.endpoint, client)];
    if (before instanceof NoAnswerError || after instanceof NoAnswerError || bothRefuse(before, after)) {
      failures++;
      await print(failureReport(call, before, after));
      continue;
    }
    const pair = { old: seen(before), new: seen(after) };
    answers.push(pair);
    const comparison = compareAnswers(call, pair.old, pair.new);
    const isSame = comparison.differences.length === 0;
    differences += comparison.differences.length;
    if (isVerbose || !isSame || comparison.intention !== undefined)
      await print(callReport(call, pair, comparison, isBrief || (isSame && !isVerbose)));
    else same++;
  }
  if (same > 0) await print(['', `The same: ${String(same)} of ${String(calls.length)} calls. --verbose shows them.`]);
  const others = (side: 'old' | 'new'): string => otherFields(answers.map((pair) => pair[side]));
  if (isVerbose)
    await print(['', 'Header fields that were not compared:', `  old: ${others('old')}`, `  new: ${others('new')}`]);
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
  return ['', `${call.name}: could not be compared`, ...sides];
}

function summary(differences: number, { calls, failures }: Tally): string {
  const found = differences === 0 ? 'A client sees no difference' : `A client sees ${count(differences)}`;
  if (failures > 0) return `${found}; ${String(failures)} of ${String(calls)} calls could not be compared.`;
  return calls === 0 ? `${found}, as far as the WSDLs tell.` : `${found}.`;
}

/** Most characters of a line of a body. */
const MAX_LINE = 2000;

/** The addresses of the ports in both WSDLs, which differ on purpose. */
function addressReport(old: Wsdl, other: Wsdl): string[] {
  const names = new Set([...old.ports, ...other.ports].map(({ name }) => name));
  const pairs = new Map<string, string[]>();
  for (const name of names) {
    const [before, after] = [old, other].map(({ ports }) => ports.find((port) => port.name === name)?.address ?? '–');
    const pair = `  old: ${quoted(before ?? '')}\n  new: ${quoted(after ?? '')}`;
    pairs.set(pair, [...(pairs.get(pair) ?? []), quoted(name)]);
  }
  return [...pairs].flatMap(([pair, ports]) => [
    `  ${ports.join(', ')}`,
    ...pair.split('\n').map((line) => `  ${line}`),
  ]);
}

/** Says how the answers to a call compare and, unless it is brief, shows both. */
function callReport(
  call: ComparedCall,
  answers: { readonly old: SeenAnswer; readonly new: SeenAnswer },
  { differences, intention, isWrittenDifferently }: Comparison,
  isBrief: boolean,
): string[] {
  const title = call.name.charAt(0).toUpperCase() + call.name.slice(1);
  const verdict =
    intention === undefined
      ? differences.length === 0
        ? `same${isWrittenDifferently ? ', in XML that is written differently' : ''}`
        : count(differences.length)
      : `differs on purpose: ${intention}`;
  const words = differences.map((difference) => `  - ${difference}.`);
  if (isBrief) return [`${title}: ${verdict}`, ...words];
  const { old, new: other } = answers;
  return ['', `${title}: ${verdict}`, ...words, ...merged(linesOf(call, old), linesOf(call, other))];
}

/** `1 difference`, `2 differences`. */
function count(differences: number): string {
  return `${String(differences)} difference${differences === 1 ? '' : 's'}`;
}

/** The header fields of all answers of one service that were not compared, each once. */
function otherFields(answers: readonly SeenAnswer[]): string {
  const compared: ReadonlySet<string> = new Set(COMPARED_FIELDS);
  const names = new Set(answers.flatMap(({ headers }) => [...headers.keys()].filter((name) => !compared.has(name))));
  return [...names].sort().map(fieldName).join(', ');
}

function statusText({ status }: Pick<HttpAnswer, 'status'>): string {
  return `${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
}

function linesOf({ compares }: ComparedCall, { status, headers, text }: SeenAnswer): string[] {
  const first = statusText({ status });
  if (compares === 'status') return [first];
  const fields = COMPARED_FIELDS.filter((field) => headers.has(field)).map(
    (field) => `${fieldName(field)}: ${shownField(field, headers.get(field))}`,
  );
  const body = bodyLines(text);
  const lines = [first, ...fields, ...(body.length === 0 ? ['(no body)'] : ['', ...body])];
  return lines.map((line) => printable(shortened(line, MAX_LINE)));
}

/** Most lines of one answer among which equal ones are found, and most lines of both that are shown. */
const MAX_COMPARED = 500;
const MAX_LINES = 200;

/** Two texts as one: `-` marks the lines that only the old service has, `+` those that only the new one has. */
function merged(old: readonly string[], other: readonly string[]): string[] {
  const changes = diffArrays(old.slice(0, MAX_COMPARED), other.slice(0, MAX_COMPARED));
  const lines = changes.flatMap(({ value, added, removed }) => {
    const mark = added ? '+' : removed ? '-' : ' ';
    return value.map((line) => `  ${mark} ${line}`.trimEnd());
  });
  const isSame = changes.every(({ added, removed }) => !added && !removed);
  const more =
    Math.max(old.length, other.length) > MAX_COMPARED || lines.length > MAX_LINES ? ['  … and more lines'] : [];
  return [...(isSame ? [] : ['  --- old', '  +++ new']), ...lines.slice(0, MAX_LINES), ...more];
}
