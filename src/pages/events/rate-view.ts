import { HTTP_ERRORS } from '../../http/errors';
import type { EventLog } from '../../log/event-log';
import type { Refusals } from '../../telemetry/refused-calls';
import { inTime } from '../page-request';
import { addressQuery } from './list-query';
import { timeText } from '../../util/time';
import { countText } from './markup';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The spans of time for which events are counted; refused calls are counted by the minute alone. */
const RATE_SPANS = new Map([
  ['minute', { span: MINUTE, spans: 60, title: 'Last 60 minutes' }],
  ['hour', { span: HOUR, spans: 48, title: 'Last 48 hours' }],
  ['day', { span: 24 * HOUR, spans: 30, title: 'Last 30 days' }],
]);

/** Counts events and refused calls for the chart. Spans begin with whole minutes, hours or days in UTC; the last has not ended. */
export async function rateView(log: EventLog, per: string, refusals: Refusals) {
  const chosen = RATE_SPANS.get(per);
  if (chosen === undefined) throw HTTP_ERRORS.invalidInput('Events are counted per minute, hour or day.');
  const { span, spans, title } = chosen;
  const now = Date.now();
  const until = (Math.floor(now / span) + 1) * span;
  const times = Array.from({ length: spans + 1 }, (_, i) => until - (spans - i) * span);
  const bars = (await log.counts(times)).map((events, i) => {
    const from = times[i] ?? 0;
    return { from, events, refused: per === 'minute' ? (refusals.perMinute.get(from / MINUTE) ?? 0) : 0 };
  });
  const sum = (name: 'events' | 'refused') => bars.reduce((total, bar) => total + bar[name], 0);
  const [total, totalRefused] = [sum('events'), sum('refused')];
  const top = Math.max(1, ...bars.map(({ events, refused }) => events + refused));
  // A single event or refused call stays visible beside many.
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(top / 100, count));
  const textOf = (from: number) => timeText(from).slice(0, per === 'day' ? 10 : 16);
  return {
    period: title.toLowerCase(),
    each: per,
    bars: bars.map(({ from, events, refused }) => {
      const [start, end] = [from, from + span].map((time) => new Date(time).toISOString().slice(0, 16));
      return {
        height: heightOf(events),
        refusedHeight: Math.min(heightOf(refused), top - heightOf(events)),
        from: textOf(from),
        dateTime: new Date(from).toISOString(),
        events: countText(events),
        refused: countText(refused),
        href: `?${addressQuery({ events: '', from: start, to: end })}`,
        isCurrent: from + span === until,
      };
    }),
    top,
    total: countText(total, 'event'),
    isEmpty: total + totalRefused === 0,
    refused: totalRefused === 0 ? undefined : countText(totalRefused, 'refused call'),
    lines: [countText(top), '0'],
    times: [textOf(until - spans * span), textOf(until - (spans / 2) * span), 'now'],
    spans: [...RATE_SPANS].map(([name, { title }]) => ({
      title,
      href: `?${addressQuery({ events: 'rate', per: name === 'minute' ? undefined : name })}`,
      isThis: name === per,
    })),
  };
}

/** How many calls were refused or failed in the hour up to a time. */
export function callsInLastHour({ perMinute }: Refusals, now: number): number {
  const last = Math.floor(now / MINUTE);
  let calls = 0;
  for (const [minute, count] of perMinute) if (minute > last - 60 && minute <= last) calls += count;
  return calls;
}

/** Counts the calls that were refused in the last hour. Undefined if there was none, or another process does not answer. */
export async function refusedInLastHour(refusals: Promise<Refusals>): Promise<string | undefined> {
  const seen = await inTime(refusals);
  const calls = seen && callsInLastHour(seen, Date.now());
  return calls ? countText(calls) : undefined;
}
