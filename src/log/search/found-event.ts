import { shortened } from '../../util/text';
import type { NewEvent } from '../../events/stored-event';
import { DATA_START, type DataSummary, type FoundEvent } from '../event-log';
import { paddedSequence } from '../page';
import { ESCAPE_LENGTH, shownMatch, type Matched } from './match';

/** Characters of a data member, from its start, from which {@link dataSummary} takes what a list shows. */
export const DATA_HEAD = 40 + DATA_START * ESCAPE_LENGTH;

/** Characters of a data member, from its end, that tell how many bytes its base64 stands for. */
export const DATA_TAIL = 8;

/** What an engine reads of a data member, which may be too large to be read as a whole. */
export interface DataMember {
  /** Its first characters, at least {@link DATA_HEAD} if it is that long. */
  readonly head: string;
  /** Its last characters, at least {@link DATA_TAIL} if it is that long. */
  readonly tail: string;
  /** Its bytes in UTF-8. */
  readonly bytes: number;
}

/** What an engine reads of an event for a list. */
export type ListedEvent = Pick<NewEvent, 'id' | 'recordedAt' | 'attributes' | 'arrival'> & {
  readonly sequence: number;
  readonly data: DataMember | undefined;
};

/** Makes what a list shows of an event. */
export function foundEvent(
  { sequence, id, recordedAt, attributes, arrival, data }: ListedEvent,
  { around, pattern }: Matched = {},
): FoundEvent {
  const { binding, type } = JSON.parse(attributes) as Readonly<Record<string, unknown>>;
  const { remoteAddress } = JSON.parse(arrival) as Readonly<Record<string, unknown>>;
  const summary = data && dataSummary(data);
  const isString = around?.in === 'data' && summary?.kind === 'text';
  return {
    sequence: paddedSequence(sequence),
    id: shortened(id),
    recordedAt,
    binding: shortText(binding),
    type: shortText(type),
    remoteAddress: shortText(remoteAddress),
    data: summary,
    match: around && pattern && shownMatch(around, pattern, isString),
  };
}

/** Takes from a whole data member what {@link dataSummary} needs. */
export function dataMemberOf(member: string): DataMember {
  return { head: member.slice(0, DATA_HEAD), tail: member.slice(-DATA_TAIL), bytes: Buffer.byteLength(member) };
}

/** Summarizes a data member, `"data":…` or `"data_base64":…`. */
function dataSummary({ head, tail, bytes }: DataMember): DataSummary {
  const { name = '', value = '' } = /^\s*"(?<name>[^"]*)"\s*:\s*(?<value>[^]*)$/.exec(head)?.groups ?? {};
  const valueBytes = bytes - Buffer.byteLength(head) + Buffer.byteLength(value);
  const isWhole = bytes === Buffer.byteLength(head);
  if (!value.startsWith('"')) return { kind: 'json', bytes: valueBytes, ...startOf(value, isWhole) };
  const text = isWhole ? (JSON.parse(value) as string) : stringStart(value);
  const contentBytes = valueBytes - '""'.length;
  if (name !== 'data_base64') return { kind: 'text', bytes: contentBytes, ...startOf(text, isWhole) };
  const padding = /=*(?="\s*$)/.exec(tail)?.[0].length ?? 0;
  return { kind: 'bytes', bytes: (contentBytes / 4) * 3 - padding, ...startOf(text, isWhole) };
}

function startOf(text: string, isWhole: boolean): Pick<DataSummary, 'start' | 'cut'> {
  // A character that is cut in two is left out.
  const start = text.slice(0, DATA_START).replace(/[\uD800-\uDBFF]$/, '');
  return { start, cut: !isWhole || start.length < text.length };
}

/** The text at the start of a JSON string that is cut off somewhere, as far as its escapes are complete. */
function stringStart(json: string): string {
  const [complete = '"'] = /^"(?:[^"\\]|\\u[\da-f]{4}|\\[^u])*/i.exec(json) ?? [];
  return JSON.parse(`${complete}"`) as string;
}

function shortText(value: unknown): string | undefined {
  return typeof value === 'string' ? shortened(value) : undefined;
}
