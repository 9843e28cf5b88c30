import type { ParsedCloudEvent } from '../events/cloudevents/cloud-event-json';
import type { EventFactory } from '../events/event';
import type { NewEvent } from '../events/stored-event';
import type { ServiceLog } from '../log/event-log';
import { letOthersRun } from '../util/promises';
import type { Call } from './call';

/** How many events of a batch are made before other calls run. */
const EVENTS_IN_ONE_GO = 500;

/**
 * Records what came with a call. Resolves once it is durable: to the id of the event or, for a batch, to the JSON array of
 * the ids of its events. Of a batch all events are recorded or, if one is not valid, none.
 *
 * @throws {CloudEventError} the caller sent a CloudEvent that is not valid.
 * @throws {EventLogError} nothing was recorded.
 */
export async function recordEvent(call: Call, log: ServiceLog, events: EventFactory): Promise<string> {
  const { binding, method, target, headers, signedBy } = call;
  const content = call.content();
  const remoteAddress = call.remoteAddress();
  if (content.batch === undefined) {
    const { attributes, payload } = content;
    const event = events.make({ binding, method, target, headers, remoteAddress, signedBy, attributes, payload });
    return (await log.append(event instanceof Promise ? await event : event)).id;
  }
  const made = await batchOf(content.batch, { binding, method, target, headers, remoteAddress, signedBy }, events);
  const appended = made.length === 0 ? [] : await log.appendAll(made);
  return JSON.stringify(appended.map(({ id }) => id));
}

/** The request that brought a batch. */
type BatchRequest = Omit<Parameters<EventFactory['make']>[0], keyof ParsedCloudEvent>;

/**
 * Makes the events of a batch. Each is known by its own `source` and `id`: a key of the request, such as `Idempotency-Key`,
 * could not tell them apart and does not count. The first event keeps the header fields and the query of the request for
 * all of them, so that a batch takes no more room in the log than its size explains.
 */
async function batchOf(
  batch: readonly ParsedCloudEvent[],
  request: BatchRequest,
  events: EventFactory,
): Promise<NewEvent[]> {
  const { traceparent, tracestate } = request.headers;
  const brief = { ...request, target: request.target.replace(/\?.*/s, ''), headers: { traceparent, tracestate } };
  const made: NewEvent[] = [];
  for (const event of batch) {
    const own = await events.make({ ...(made.length === 0 ? request : brief), ...event });
    made.push({ ...own, idempotencyKey: undefined, webhookId: undefined });
    if (made.length % EVENTS_IN_ONE_GO === 0) await letOthersRun();
  }
  return made;
}
