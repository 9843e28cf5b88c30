import { STATUS_CODES } from 'node:http';
import { replaceInvisible } from '../../util/invisible';
import { shortened } from '../../util/shortened';
import { quoted } from '../quoted';
import { bodyLines, COMPARED_FIELDS, fieldName, shownField, type Comparison, type SeenAnswer } from './calls/answers';
import type { Call } from './calls/calls';
import { sideBySide } from './calls/side-by-side';
import type { Wsdl } from './wsdl/wsdl';

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

/** The header fields that nobody compared, each once, of all answers of one service. */
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

/** A line as it may go to a terminal: whatever it would obey is escaped. */
export function printable(line: string): string {
  return replaceInvisible(line.replaceAll('\t', '    '), (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  }).replaceAll('\n', '\\n');
}
