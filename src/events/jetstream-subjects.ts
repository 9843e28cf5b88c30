import { createHash } from 'node:crypto';

/** What the messages on one subject are about: the kind, and the name. */
export type Key = readonly [kind: string, ...name: string[]];

/** The subject of a stream for a key, of 22 characters behind the stream's name whatever the key holds. */
export function subjectOf(stream: string, key: Key): string {
  const digest = createHash('sha256').update(JSON.stringify(key)).digest();
  return `${stream}.${digest.toString('base64url', 0, 16)}`;
}

/** The one subject that an event may be recorded on. */
export function slotOf(stream: string, source: string, id: string): string {
  return subjectOf(stream, ['event', source, id]);
}

/** Reads JSON from the body of a message. */
export function jsonOf(body: Uint8Array): unknown {
  return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
}
