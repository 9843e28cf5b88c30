/** A syntax error of an XML document. */
interface Mistake {
  /** As a sentence. */
  readonly what: string;
  /** The offset of its beginning, in UTF-16 code units. */
  readonly offset: number;
}

/** The beginnings of constructs that need an end, and the ampersand, which must begin a reference. */
const PART = /<!--|<!\[CDATA\[|<\?|&/g;
const ENDS: ReadonlyMap<string, readonly [what: string, end: string]> = new Map([
  ['<!--', ['comment', '-->']],
  ['<![CDATA[', ['CDATA section', ']]>']],
  ['<?', ['processing instruction', '?>']],
]);

const REFERENCE = /&[^&;<>\s]+;/y;

/** The parts of a document that are looked at, at most: some 20 ms. */
const MAX_PARTS = 100_000;

/** Errors that `saxes` reports far after the mistake: at the next `;`, or at the end of the document. */
const SAID_TOO_LATE = /entity|unclosed tag|unexpected end|must contain a root/;

/** Finds the mistake for which `saxes` gives this reason, if it begins before the place that `saxes` names. */
export function earlierMistake(xml: string, reason: string): Mistake | undefined {
  return SAID_TOO_LATE.test(reason) ? (endless(xml) ?? openTag(xml)) : undefined;
}

function endless(xml: string): Mistake | undefined {
  PART.lastIndex = 0;
  for (let parts = 0; parts < MAX_PARTS; parts++) {
    const found = PART.exec(xml);
    if (found === null) return undefined;
    const offset = found.index;
    const part = ENDS.get(found[0]);
    if (part === undefined) {
      REFERENCE.lastIndex = offset;
      if (!REFERENCE.test(xml)) return { what: 'An & that begins no reference must be written as &amp;.', offset };
    } else {
      const [what, end] = part;
      const place = xml.indexOf(end, PART.lastIndex);
      if (place === -1) return { what: `The ${what} that begins here has no end.`, offset };
      PART.lastIndex = place + end.length;
    }
  }
  return undefined;
}

function openTag(xml: string): Mistake | undefined {
  const offset = xml.lastIndexOf('<');
  if (offset === -1 || xml.includes('>', offset)) return undefined;
  return { what: 'The tag that begins here has no end.', offset };
}

/** The line of a place and its position in that line, both counted from 1. */
export function placeOf(xml: string, offset: number): { readonly line: number; readonly position: number } {
  let line = 1;
  let start = 0;
  for (let end = xml.indexOf('\n'); end !== -1 && end < offset; end = xml.indexOf('\n', start)) {
    line++;
    start = end + 1;
  }
  return { line, position: offset - start + 1 };
}
