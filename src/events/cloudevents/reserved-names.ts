/** Attributes that the log itself gives every event. */
const RESERVED: readonly string[] = ['sequence', 'binding'];
const PREFIX = 'sender';

/**
 * Renames the attributes whose names the log uses itself: a sender's `sequence` becomes `sendersequence`, or where it has
 * one of that name too, as after several logs, `sendersendersequence`.
 */
export function withoutReservedNames(attributes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!RESERVED.some((name) => Object.hasOwn(attributes, name))) return attributes;
  const freeName = (name: string): string => {
    let free = PREFIX + name;
    while (Object.hasOwn(attributes, free)) free = PREFIX + free;
    return free;
  };
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [RESERVED.includes(name) ? freeName(name) : name, value]),
  );
}
