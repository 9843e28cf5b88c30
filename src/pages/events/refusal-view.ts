import { Sender } from '../../senders/sender';
import { REFUSALS } from '../../http/errors';
import { callsOfLastHour, type RefusedCall, type Refusals } from '../../telemetry/refused-calls';
import { letOthersRun } from '../../util/promises';
import { addressQuery } from './list-query';
import { shownText } from '../markup';
import { bindingView, countText, pairs, timeView } from './parts';

/** Why calls are refused, in one word each; `failed`: a valid call that the service could not answer. */
const REASONS = [...REFUSALS, 'failed'] as const;

/** How far back in time a call is looked for that another process refused, in milliseconds: its report may come later. */
const OVERLAP = 5000;

const NONE = '–';

/** Most bytes of the texts of a call as markup. */
const REASON_BYTES = 900;
const CELL_BYTES = 250;
const HEADERS_BYTES = 8000;

/** Most bytes of all header fields on a page as markup. */
const DETAILS_BYTES = 1_000_000;

export type RefusalsView = Awaited<ReturnType<typeof refusalsView>>;

/**
 * Shows the refused calls, or those with a reason, newest first. Links have only the query.
 *
 * @param after - for a list that is open: only calls since this time, and some before it, which the list may have.
 */
export async function refusalsView(refusals: Refusals, reason: string | undefined, now: number, after = -Infinity) {
  const { calls } = refusals;
  let left = DETAILS_BYTES;
  const rows: ReturnType<typeof refusalView>[] = [];
  for (const call of calls.filter(({ time }) => time > after - OVERLAP)) {
    if (!hasReason(call, reason)) continue;
    const row = refusalView(call, left);
    left -= row.detailBytes;
    if (rows.push(row) % 10 === 0) await letOthersRun();
  }
  return {
    calls: rows,
    /** The time after which live rows begin. */
    liveAfter: calls[0]?.time ?? 0,
    lastHour: countText(callsOfLastHour(refusals, now)),
    isNarrowed: reason !== undefined,
    reasons: [undefined, ...REASONS].map((name) => ({
      name: name ?? 'all',
      href: `?${addressQuery({ events: 'refusals', reason: name })}`,
      isThis: name === reason,
    })),
  };
}

function hasReason({ refusal }: RefusedCall, reason: string | undefined): boolean {
  return reason === undefined || reason === (refusal ?? 'failed');
}

/** Shows a refused call as a row of the table, with at most `maxBytes` for its details. What a caller wrote is HTML. */
function refusalView(call: RefusedCall, maxBytes: number) {
  const { time, remoteAddress, binding, operation, method = '', path, status, refusal, reason, requestId } = call;
  const { sender, headers = [] } = call;
  const cell = (text: string | undefined) => shownText(text ?? NONE, CELL_BYTES);
  const fields = new Map(headers);
  const delivery = deliveryOf(call, fields);
  const shownHeaders = pairs(headers, Math.min(HEADERS_BYTES, maxBytes));
  return {
    id: call.id,
    ...timeView(time),
    address: cell(remoteAddress),
    ...bindingView(binding),
    called: operation === undefined ? '' : cell(operation),
    // A binding names the method.
    path: cell(binding === undefined && path !== undefined ? `${method} ${path}` : path),
    status: status === undefined ? NONE : String(status),
    word: refusal ?? 'failed',
    reason: shownText(reason, REASON_BYTES),
    requestId: cell(requestId),
    userAgent: fields.has('user-agent') ? cell(fields.get('user-agent')) : undefined,
    sender,
    delivery: delivery && cell(delivery),
    headers: shownHeaders,
    detailBytes: shownHeaders.reduce((sum, pair) => sum + pair.name.length + pair.value.length, 0),
  };
}

/** The id of a delivery, which stays the same if its sender sends the call again. */
function deliveryOf({ sender }: RefusedCall, fields: ReadonlyMap<string, string>): string | undefined {
  const known = Sender.all.find(({ name }) => name === sender);
  const key = known?.keyOf(Object.fromEntries(fields), {});
  const standard = fields.get('webhook-id') ?? fields.get('svix-id');
  return standard ?? key?.split('\n')[1] ?? fields.get('idempotency-key') ?? fields.get('ce-id');
}
