import { Binding } from '../../config/values';
import { positionIn } from '../../events/stored-event';
import { SearchQuery } from '../../log/queries';
import { Sender } from '../../senders/sender';
import { shortened } from '../../util/text';
import { parseTime, timeText } from '../../util/time';

export type Filter = Pick<SearchQuery, 'text' | 'binding' | 'type' | 'sender' | 'fromSender' | 'from' | 'to'>;

export type ListQuery = ReturnType<typeof listQuery>;

/** Reads the query of a list's address, and why it cannot be used. Forms send empty parameters, which count as absent. */
export function listQuery(parameters: URLSearchParams) {
  const given = (name: string): string | undefined => parameters.get(name) || undefined;
  const problems: string[] = [];
  const invalid: Record<string, string> = {};
  const read = <T>(name: string, parse: (text: string) => T | undefined, allowed: string): T | undefined => {
    const text = given(name);
    const value = text === undefined ? undefined : parse(text);
    if (text === undefined || value !== undefined) return value;
    problems.push(`${name} must be ${allowed}: ${shortened(text)}`);
    invalid[name] = text;
    return undefined;
  };
  const time = 'a time such as 2026-11-22T14:02:00Z';
  const isShort = (text: string) => text.length <= SearchQuery.maxText;
  const filter: Filter = {
    text: read('text', textIf(isShort), `at most ${String(SearchQuery.maxText)} characters`),
    binding: read('binding', oneOf(Binding.all), `one of ${Binding.all.join(', ')}`),
    type: given('type'),
    sender: read('sender', textIf(SearchQuery.mayBeAddress), 'an address; fromsender names a sender'),
    fromSender: read('fromsender', oneOf(Sender.recognised), `one of ${Sender.recognised.join(', ')}`),
    from: read('from', parseInputTime, time),
    to: read('to', parseInputTime, time),
  };
  /** The position of the list in the log; by default the newest events. */
  const place = {
    before: read('before', positionIn, 'a position'),
    after: read('after', positionIn, 'a position'),
  };
  if (filter.from !== undefined && filter.to !== undefined && filter.from >= filter.to)
    problems.push(`from must be a time before to, which is ${timeText(filter.to)} UTC`);
  return { filter, place, problem: problems[0], invalid };
}

const textIf = (isValid: (text: string) => boolean) => (text: string) => (isValid(text) ? text : undefined);

const oneOf = (names: readonly string[]) => (text: string) => names.find((name) => name === text.toLowerCase());

export function isNarrowed(filter: Filter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** The parameters of an address that have a value, in the order given. */
export function addressQuery(values: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${encodeURIComponent(String(value))}`,
  );
  return pairs.join('&').replace(/^events=&|^events=$/, (start) => start.replace('=', ''));
}

/** A link to the page of an event, from a list with this filter. */
export function eventLink(position: number, filter: Filter) {
  return { position: String(position), href: `?${addressQuery({ event: position, ...filterValues(filter) })}` };
}

/** A filter as parameters of an address, and as values of inputs, whose times are in UTC. */
export function filterValues(filter: Filter): Record<string, string | undefined> {
  const { fromSender: fromsender, from, to, ...texts } = filter;
  const time = (value: number | undefined) =>
    value === undefined ? undefined : new Date(value).toISOString().replace(/(?::00)?\.000Z$|Z$/, '');
  return { ...texts, fromsender, from: time(from), to: time(to) };
}

/**
 * Reads a time in milliseconds since 1970-01-01T00:00Z: RFC 3339, or that of an input of the type `datetime-local`, which has no zone and
 * perhaps no seconds, as UTC.
 */
function parseInputTime(text: string): number | undefined {
  return parseTime(text) ?? parseTime(`${text}Z`) ?? parseTime(`${text}:00Z`);
}
