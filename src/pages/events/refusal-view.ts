import { Sender } from '../../senders/sender';
import { REFUSALS } from '../../http/errors';
import type { Refusals } from '../../telemetry/refused-calls';
import { letOthersRun } from '../../util/promises';
import { addressQuery } from './list-query';
import { bindingView, countText, pairs, shownText, timeView } from './markup';
import { callsInLastHour } from './rate-view';

/** Why calls are refused, in one word each; `failed`: a valid call that the service could not answer. */
const REASONS = [...REFUSALS, 'failed'] as const;

type Refused = Refusals['calls'][number];

const NONE = '–';

/** Most bytes of the texts of a call as markup. */
const CELL_BYTES = 250;
const REASON_BYTES = 900;
const HEADERS_BYTES = 8000;

/** Shows the refused calls, or those with a reason, newest first: those of one caller for the same reason as one row. */
export async function refusalsView(refusals: Refusals, given: string | null) {
  const reason = given || undefined;
  const shown = refusals.calls.filter(({ refusal = 'failed' }) => reason === undefined || reason === refusal);
  const alike = new Map<string, Refused[]>();
  for (const call of shown) {
    const key = JSON.stringify([call.remoteAddress, call.refusal, call.reason]);
    alike.set(key, [...(alike.get(key) ?? []), call]);
  }
  const rows: ReturnType<typeof refusalView>[] = [];
  for (const [newest, ...earlier] of alike.values()) {
    if (newest !== undefined) rows.push(refusalView(newest, earlier));
    if (rows.length % 10 === 0) await letOthersRun();
  }
  return {
    calls: rows,
    lastHour: countText(callsInLastHour(refusals, Date.now())),
    isNarrowed: reason !== undefined,
    reasons: [undefined, ...REASONS].map((name) => ({
      name: name ?? 'all',
      href: `?${addressQuery({ events: 'refusals', reason: name })}`,
      isThis: name === reason,
    })),
  };
}

/** Shows a refused call as a row of the table, and how many were like it. What a caller wrote is HTML. */
function refusalView(call: Refused, earlier: readonly Refused[]) {
  const { time, binding, operation, method = '', path, status, refusal, sender, headers = [] } = call;
  const cell = (text: string | undefined) => shownText(text ?? NONE, CELL_BYTES);
  const fields = new Map(headers);
  const delivery = deliveryOf(call, fields);
  return {
    id: call.id,
    count: earlier.length + 1,
    since: timeView(earlier.at(-1)?.time ?? time),
    ...timeView(time),
    address: cell(call.remoteAddress),
    ...bindingView(binding),
    called: operation === undefined ? '' : cell(operation),
    // A binding names the method.
    path: cell(binding === undefined && path !== undefined ? `${method} ${path}` : path),
    status: status === undefined ? NONE : String(status),
    word: refusal ?? 'failed',
    reason: shownText(call.reason, REASON_BYTES),
    requestId: cell(call.requestId),
    userAgent: fields.has('user-agent') ? cell(fields.get('user-agent')) : undefined,
    sender,
    delivery: delivery && cell(delivery),
    headers: pairs(headers, HEADERS_BYTES),
  };
}

/** The id of a delivery, which stays the same if its sender sends the call again. */
function deliveryOf({ sender }: Refused, fields: ReadonlyMap<string, string>): string | undefined {
  const key = Sender.named(sender)?.keyOf(Object.fromEntries(fields), {});
  const standard = fields.get('webhook-id') ?? fields.get('svix-id');
  return standard ?? key?.split('\n').at(-1) ?? fields.get('idempotency-key') ?? fields.get('ce-id');
}
