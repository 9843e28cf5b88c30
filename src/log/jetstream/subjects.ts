import { createHash } from 'node:crypto';
import type { NewEvent } from '../../events/stored-event';

/** What the messages on one subject of the stream of keys are about: the kind, and the name. */
export type Key = readonly [kind: string, name: string];

/** The keys that the sender gave an event, in the order in which they are claimed. */
export function keysOf({ idempotencyKey, webhookId }: Pick<NewEvent, 'idempotencyKey' | 'webhookId'>): Key[] {
  const keys: Key[] = [];
  if (idempotencyKey !== undefined) keys.push(['idempotency-key', idempotencyKey]);
  if (webhookId !== undefined) keys.push(['webhook-id', webhookId]);
  return keys;
}

/** The subject of a key: the stream's name and 22 characters, whatever the key holds. */
export function keySubject(stream: string, key: Key): string {
  return `${stream}.${digest(JSON.stringify(key))}`;
}

/** The one subject on which an event may be recorded: the stream's name, and 22 characters each for id and source. */
export function slotSubject(stream: string, { id, source }: { readonly id: string; readonly source: string }): string {
  return `${stream}.${digest(id)}.${digest(source)}`;
}

/** 128 bits of SHA-256, in characters that a subject may have. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest().toString('base64url', 0, 16);
}
