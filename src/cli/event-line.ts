import type { StoredEvent } from '../events/stored-event';
import { foundEvent } from '../log/search';
import { printable } from './terminal';
import { sizeText } from '../util/text';
import { timeText } from '../util/time';

/** Returns an event on one line: when it was recorded, in UTC, its sequence, its type, the size of its data, its sender. */
export function eventLine(event: StoredEvent): string {
  const { recordedAt, position, type = '–', data, remoteAddress = '–' } = foundEvent(event);
  const size = data === undefined ? '–' : sizeText(data.bytes);
  return printable(
    `${timeText(recordedAt)}  ${String(position).padStart(7)}  ${type.padEnd(24)}  ${size.padStart(9)}  ${remoteAddress}`,
  );
}
