import type { EventLog, Rate } from '../../log/event-log';
import { addressQuery } from './list-query';
import { countText, timeText } from './markup';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The spans of time for which events are counted. */
export const RATE_SPANS = {
  minute: { span: MINUTE, spans: 60, title: 'Last 60 minutes', each: 'minute', characters: 16, every: 10 },
  hour: { span: HOUR, spans: 48, title: 'Last 48 hours', each: 'hour', characters: 16, every: 8 },
  day: { span: DAY, spans: 30, title: 'Last 30 days', each: 'day', characters: 10, every: 5 },
} as const;

export type RateSpan = keyof typeof RATE_SPANS;

export function isRateSpan(text: string): text is RateSpan {
  return Object.hasOwn(RATE_SPANS, text);
}

/** A bar of the chart, in units of its view box, and its row in the table. */
export interface BarView {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** When the span begins, and the same as the value of a `time` element. */
  readonly from: string;
  readonly dateTime: string;
  readonly events: string;
  /** The events of that span in the list. */
  readonly href: string;
  /** Whether the span has not ended yet. */
  readonly isCurrent: boolean;
}

export interface RateView {
  readonly period: string;
  readonly each: string;
  readonly bars: readonly BarView[];
  readonly total: string;
  /** The values at the lines of the chart, the highest first. */
  readonly lines: readonly string[];
  /** The times below the chart, equally far from each other. */
  readonly times: readonly string[];
  readonly spans: readonly { readonly title: string; readonly href: string; readonly isThis: boolean }[];
  readonly viewBox: string;
}

const WIDTH = 600;
const HEIGHT = 200;

/** Counts events for the chart. The spans begin with whole minutes, hours or days in UTC; the last has not ended. */
export async function rateView(log: EventLog, per: RateSpan, now: number): Promise<RateView> {
  const { span, spans, title, each, characters, every } = RATE_SPANS[per];
  const until = (Math.floor(now / span) + 1) * span;
  const rates = await log.rates({ until, span, spans });
  const top = roundTop(Math.max(...rates.map(({ events }) => events)));
  const times = rates.filter((_rate, i) => i % every === 0).map(({ from }) => shortTime(from, per));
  return {
    period: title.toLowerCase(),
    each,
    bars: rates.map((rate, i) => barView(rate, i, { span, spans, top, characters, now })),
    total: countText(rates.reduce((sum, { events }) => sum + events, 0)),
    lines: [top, top / 2, 0].map(countText),
    times: [...times, per === 'day' ? 'today' : 'now'],
    spans: Object.entries(RATE_SPANS).map(([name, one]) => ({
      title: one.title,
      href: `?${addressQuery({ events: 'rate', per: name === 'minute' ? undefined : name })}`,
      isThis: name === per,
    })),
    viewBox: `0 0 ${String(WIDTH)} ${String(HEIGHT)}`,
  };
}

interface Scale {
  readonly span: number;
  readonly spans: number;
  readonly top: number;
  readonly characters: number;
  readonly now: number;
}

function barView({ from, events }: Rate, i: number, { span, spans, top, characters, now }: Scale): BarView {
  const slot = WIDTH / spans;
  // One event among many is still seen.
  const height = events === 0 ? 0 : Math.max(2, (events / top) * HEIGHT);
  const start = new Date(from).toISOString();
  const end = new Date(from + span).toISOString();
  return {
    x: rounded(i * slot + slot * 0.1),
    y: rounded(HEIGHT - height),
    width: rounded(slot * 0.8),
    height: rounded(height),
    from: timeText(from).slice(0, characters),
    dateTime: start,
    events: countText(events),
    href: `?${addressQuery({ events: '', from: start.slice(0, 16), to: end.slice(0, 16) })}`,
    isCurrent: from <= now && now < from + span,
  };
}

function shortTime(from: number, per: RateSpan): string {
  const text = timeText(from);
  if (per === 'minute') return text.slice(11, 16);
  return text.slice(5, per === 'hour' ? 16 : 10);
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The lowest round number that is not less, and of which half is a round number too. */
function roundTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  const steps = power === 1 ? [2, 4, 6, 8, 10] : [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10];
  return power * (steps.find((step) => step * power >= most) ?? 10);
}
