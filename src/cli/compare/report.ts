import { STATUS_CODES } from 'node:http';
import { shortened } from '../../util/text';
import { printable, quoted } from '../terminal';
import { bodyLines, COMPARED_FIELDS, fieldName, shownField, type Comparison, type SeenAnswer } from './answers';
import type { Call } from './calls';
import type { Wsdl } from './wsdl';

/** Most characters of a line of a body. */
const MAX_LINE = 2000;

/** The addresses of the ports in both WSDLs, which differ on purpose. */
export function addressReport(old: Wsdl, other: Wsdl): string[] {
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
export function callReport(
  call: Call,
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
export function count(differences: number): string {
  return `${String(differences)} difference${differences === 1 ? '' : 's'}`;
}

/** The header fields of all answers of one service that were not compared, each once. */
export function otherFields(answers: readonly SeenAnswer[]): string {
  const compared: ReadonlySet<string> = new Set(COMPARED_FIELDS);
  const names = new Set(answers.flatMap(({ headers }) => [...headers.keys()].filter((name) => !compared.has(name))));
  return [...names].sort().map(fieldName).join(', ');
}

function linesOf({ compares }: Call, { status, headers, text }: SeenAnswer): string[] {
  const first = `${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
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
  if (old.length > MAX_ALIGNED || other.length > MAX_ALIGNED)
    return Array.from({ length: Math.max(old.length, other.length) }, (_, i): Row => [old[i], other[i]]);
  const lengths = commonLengths(old, other);
  const rows: Row[] = [];
  let [i, j] = [0, 0];
  const gap: { old: string[]; other: string[] } = { old: [], other: [] };
  const flush = (): void => {
    const height = Math.max(gap.old.length, gap.other.length);
    for (let line = 0; line < height; line++) rows.push([gap.old[line], gap.other[line]]);
    gap.old = [];
    gap.other = [];
  };
  while (i < old.length || j < other.length) {
    if (i < old.length && j < other.length && old[i] === other[j]) {
      flush();
      rows.push([old[i++], other[j++]]);
    } else if (j >= other.length || (i < old.length && (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0))) {
      gap.old.push(old[i++] ?? '');
    } else {
      gap.other.push(other[j++] ?? '');
    }
  }
  flush();
  return rows;
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
