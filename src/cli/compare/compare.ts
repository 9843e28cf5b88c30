import { STATUS_CODES } from 'node:http';
import { shortened } from '../../util/text';
import { noAnswer, NoAnswerError, type HttpResponse, type HttpClient } from '../http-client';
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
import { differencesOf } from './part';
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

/** How the comparison is shown. */
export interface Output {
  readonly print: (lines: readonly string[]) => Promise<void>;
  /** Characters in a line. */
  readonly width: number;
}

/**
 * Compares two services and prints what was found as it goes.
 *
 * @throws {WsdlError} one of the WSDLs cannot be had.
 */
export async function compare(task: CompareTask, client: HttpClient, { print, width }: Output): Promise<Tally> {
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
  const calls = task.makesCalls ? await compareCalls(old, other, task, client, { print, width }) : NO_CALLS;
  const differences = inContract.length + calls.differences;
  await print(['', summary(differences, calls)]);
  return { ...calls, differences };
}

const NO_CALLS: Tally = { differences: 0, failures: 0, calls: 0 };

function contractDifferences(old: ComparedService, other: ComparedService): string[] {
  const namespaces = { old: old.wsdl.targetNamespace, new: other.wsdl.targetNamespace };
  const differences = differencesOf(old.wsdl.contract, other.wsdl.contract, namespaces);
  if (namespaces.old === namespaces.new) return differences;
  const texts = `${quoted(namespaces.old)} in the old service, ${quoted(namespaces.new)} in the new one`;
  return [`The target namespace is ${texts}; names and SOAPActions in it differ with it.`, ...differences];
}

async function compareCalls(
  old: ComparedService,
  other: ComparedService,
  { asked, isBrief, isVerbose }: CompareTask,
  client: HttpClient,
  { print, width }: Output,
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
      await print(callReport(call, pair, comparison, { isBrief: isBrief || (isSame && !isVerbose), width }));
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

function bothRefuse(old: HttpResponse, other: HttpResponse): boolean {
  return REFUSALS.has(old.status) && REFUSALS.has(other.status);
}

function ask(call: ComparedCall, endpoint: URL, client: HttpClient): Promise<HttpResponse | NoAnswerError> {
  const url = new URL(endpoint);
  const [path = '', ...query] = call.location.split('?');
  url.pathname += path;
  url.search = query.join('?');
  return client.ask(url, call).catch(noAnswer);
}

function failureReport(
  call: ComparedCall,
  old: HttpResponse | NoAnswerError,
  other: HttpResponse | NoAnswerError,
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
  { isBrief, width }: { readonly isBrief: boolean; readonly width: number },
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
  return ['', `${title}: ${verdict}`, ...words, ...sideBySide(linesOf(call, old), linesOf(call, other), width)];
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

function statusText({ status }: Pick<HttpResponse, 'status'>): string {
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

/** The narrowest output, in characters, that has two columns. */
const MIN_WIDTH = 100;
/** Most lines of one side. */
const MAX_LINES = 200;
/** Most lines on each side of which equal ones are found; longer ones are compared line by line. */
const MAX_ALIGNED = 500;

type Row = readonly [old: string | undefined, other: string | undefined];

/**
 * Lays out two texts with equal lines beside each other, or one under the other where the output is too narrow. `!` marks the
 * lines that differ. Texts that are equal are there once.
 *
 * @param old - lines without characters that a terminal obeys
 */
function sideBySide(old: readonly string[], other: readonly string[], width: number): string[] {
  const all = aligned(old, other);
  const rows = all.slice(0, MAX_LINES);
  const rest = all.length > MAX_LINES ? [`… ${String(all.length - MAX_LINES)} more lines`] : [];
  const isOneColumn = width < MIN_WIDTH || rows.every(isSame);
  return [...(isOneColumn ? stacked(rows) : columns(rows, Math.floor((width - 7) / 2))), ...rest];
}

function columns(rows: readonly Row[], width: number): string[] {
  return [['old', 'new'] as const, ...rows].flatMap(([old, other], i) => {
    const left = wrapped(old ?? '', width);
    const right = wrapped(other ?? '', width);
    const mark = i > 0 && old !== other ? '!' : ' ';
    const height = Math.max(left.length, right.length);
    return Array.from({ length: height }, (_, line) =>
      `  ${mark} ${(left[line] ?? '').padEnd(width)} | ${right[line] ?? ''}`.trimEnd(),
    );
  });
}

function stacked(rows: readonly Row[]): string[] {
  const side = (title: string, pick: (row: Row) => string | undefined): string[] => [
    `  ${title}:`,
    ...rows.flatMap((row) => {
      const line = pick(row);
      return line === undefined ? [] : [`  ${isSame(row) ? ' ' : '!'} ${line}`.trimEnd()];
    }),
  ];
  if (rows.every(isSame)) return side('both', ([old]) => old);
  return [...side('old', ([old]) => old), ...side('new', ([, other]) => other)];
}

function isSame([old, other]: Row): boolean {
  return old === other;
}

function wrapped(line: string, width: number): string[] {
  const characters = [...line];
  const parts: string[] = [];
  for (let start = 0; start < characters.length; start += width) {
    parts.push(characters.slice(start, start + width).join(''));
  }
  return parts.length === 0 ? [''] : parts;
}

/** Puts the lines of the longest common subsequence beside each other. */
function aligned(old: readonly string[], other: readonly string[]): Row[] {
  if (old.length > MAX_ALIGNED || other.length > MAX_ALIGNED) return beside(old, other);
  const lengths = commonLengths(old, other);
  const rows: Row[] = [];
  let [i, j] = [0, 0];
  // Where the lines begin that are in no row yet.
  let [firstOld, firstOther] = [0, 0];
  while (i < old.length && j < other.length) {
    if (old[i] === other[j]) {
      rows.push(...beside(old.slice(firstOld, i), other.slice(firstOther, j)), [old[i++], other[j++]]);
      [firstOld, firstOther] = [i, j];
    } else if ((lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0)) i++;
    else j++;
  }
  return [...rows, ...beside(old.slice(firstOld), other.slice(firstOther))];
}

function beside(old: readonly string[], other: readonly string[]): Row[] {
  return Array.from({ length: Math.max(old.length, other.length) }, (_, i) => [old[i], other[i]]);
}

/** How many lines the rests of both have in common, by where the rests begin. */
function commonLengths(old: readonly string[], other: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      const row = lengths[i];
      if (row === undefined) continue;
      const below = lengths[i + 1];
      row[j] = old[i] === other[j] ? (below?.[j + 1] ?? 0) + 1 : Math.max(below?.[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}
