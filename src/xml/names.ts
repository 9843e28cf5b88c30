/** Kinds of ASCII characters: those that a name can begin with, and the others that it can have. */
const START = 2;
const OTHER = 1;
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z_]/.test(character)) return START;
  return /[\d.-]/.test(character) ? OTHER : 0;
});

/** Where the name ends that begins at a place, as far as it is ASCII and has no colon; the place itself: none begins there. */
export function nameEnd(text: string, start: number): number {
  if (kindOf(text.charCodeAt(start)) !== START) return start;
  let end = start + 1;
  while (isNameCharacter(text.charCodeAt(end))) end++;
  return end;
}

/** Whether a name can have this ASCII character, besides the colon. False: it cannot, or it is not ASCII. */
export function isNameCharacter(code: number): boolean {
  return kindOf(code) !== 0;
}

function kindOf(code: number): number {
  return code < 128 ? (KINDS[code] ?? 0) : 0;
}
