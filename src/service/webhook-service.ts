import type { Config } from '../config/config';
import { EventFactory, type EventContent } from '../events/event';
import type { EventLog } from '../log/event-log';
import { type NewEvent, positionIn, sequenceOf, wireBytes, StoredEvent } from '../events/stored-event';
import { EventReader, type PageQuery, waitParameter } from './event-reader';
import { CallError, type Call, type ParameterValues, type Service } from './call';
import { LARGE_MESSAGE, letOthersRun } from '../util/promises';
import { Secrets } from '../util/secrets';
import { oneLine } from '../util/text';

/**
 * Returns the WebHook service: the three operations of the interface document, on an event log.
 *
 * @param maxResultBytes - maximum bytes of a result of GetEvents on the wire, as `wireBytes` counts them.
 * @param secrets - are not kept with events.
 */
export function webhookService(
  log: EventLog,
  config: Config,
  maxResultBytes: number,
  secrets = new Secrets(),
): Service {
  const { path, eventType, idempotencyFields = [] } = config;
  const factory = new EventFactory({ source: path, type: eventType }, secrets, idempotencyFields);
  const reader = new EventReader(log);
  return {
    RecordEvent: { access: 'record', run: (call) => recordEvent(call, log, factory) },

    GetEvents: {
      access: 'read',
      resultType: 'application/cloudevents-batch+json',
      refuses: OTHER_FILTERS,
      async run(call, parameters) {
        const query = queryOf(call, parameters, config.getEventsLimit, maxResultBytes);
        const page = await reader.read(query, waitParameter(parameters, query), call);
        const batch = `[${page.map((event) => listedEvent(event, call)).join(',')}]`;
        // Writing it as XML takes as long as reading it did.
        if (batch.length > LARGE_MESSAGE) await letOthersRun();
        return batch;
      },
    },

    HelloWorld: { access: 'open', run: () => Promise.resolve('Hello World') },
  };
}

/** Filters of the tool and the pages, and names that others give to such filters. */
const OTHER_FILTERS =
  'types Type eventType binding text sender header source subject filter before since until from to'.split(' ');

function queryOf(call: Call, parameters: ParameterValues, limit: number, maxResultBytes: number): PageQuery {
  const id = textParameter(parameters, 'id');
  const position = sequenceParameter(parameters, 'sequence');
  const type = textParameter(parameters, 'type');
  if (type !== undefined && (id !== undefined || position !== undefined))
    throw CallError.mustBe('type', 'given without the parameters id and sequence');
  return {
    id,
    position,
    type,
    after: sequenceParameter(parameters, 'after'),
    limit: limitParameter(parameters, limit),
    maxBytes: maxResultBytes - '[]'.length,
    datarefBytes: wireBytes(`,${dataReference(Number.MAX_SAFE_INTEGER, call)}`),
  };
}

function textParameter(parameters: ParameterValues, name: string): string | undefined {
  const value = parameters[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') throw CallError.mustBe(name, 'given with a value');
  return value;
}

function sequenceParameter(parameters: ParameterValues, name: string): number | undefined {
  const value = parameters[name];
  if (value === undefined) return undefined;
  const position = typeof value === 'string' ? positionIn(value.trim()) : undefined;
  if (position === undefined) throw CallError.mustBe(name, 'a sequence: up to 20 digits');
  return position;
}

function limitParameter({ limit }: ParameterValues, most: number): number {
  if (limit === undefined) return most;
  if (typeof limit === 'number' && limit >= 1 && limit <= most) return limit;
  throw CallError.mustBe('limit', `a whole number from 1 to ${String(most)}`);
}

function listedEvent(event: StoredEvent, call: Call): string {
  if (event.dataOmitted === undefined) return StoredEvent.json(event);
  const { position } = event;
  // Replaces a `dataref` of the sender's own.
  const attributes = JSON.stringify({ ...(JSON.parse(event.attributes) as object), dataref: undefined });
  return StoredEvent.json({ attributes, position, data: dataReference(position, call) });
}

/** The CloudEvents `dataref` member: the URL under which GetEvents returns this one event with its data. */
function dataReference(position: number, call: Call): string {
  return `"dataref":${JSON.stringify(`${call.endpointUrl()}/GetEvents?sequence=${sequenceOf(position)}`)}`;
}

/**
 * Records what came with a call. Resolves once it is durable: to the id of the event or, for a batch, to the JSON array of
 * the ids of its events.
 *
 * @throws {CloudEventError | CallError | EventTooLargeError | EventLogError} nothing was recorded, also of a batch.
 */
export async function recordEvent(call: Call, log: EventLog, factory: EventFactory): Promise<string> {
  const found = call.content();
  // Waiting for what is there takes a turn of the microtasks.
  const content = found instanceof Promise ? await found : found;
  if (content.batch === undefined) {
    let event = factory.make(call, content);
    // The bytes of the message are in the event, and need not stay while the disk works.
    call.forget();
    // At most three times: `withOwnKey` lengthens each of the two keys once at most, and the longer key finds this event or none.
    for (;;) {
      const [{ id, conflict }] = await log.append(event);
      const next = conflict && EventFactory.withOwnKey(event, conflict);
      if (next === undefined || next === 'known') return id;
      if (next === 'reused')
        throw new CallError(
          'The Idempotency-Key was sent before with another type or other data. Nothing was recorded. ' +
            'Send each event with a key of its own.',
          'keyReuse',
        );
      if (conflict?.key === 'webhookId') call.hint('delivery-id', deliveryHint(event.webhookId ?? ''));
      event = next;
    }
  }
  const made = await batchOf(call, content.batch, factory);
  call.forget();
  const appended = await log.append(...made);
  return JSON.stringify(appended.map(({ id }) => id));
}

function deliveryHint(key: string): string {
  return (
    `Deliveries come with one id, ${oneLine(key.replaceAll('\n', ' '))}, and different data or from different senders. Each is ` +
    'recorded. If the id names the endpoint, a delivery that is repeated is recognised by its data alone.'
  );
}

/**
 * Returns the events of a batch. Each is known by its own `source` and `id`: a key of the request could not tell them apart. The first
 * keeps the header fields and the query of the request for all of them, so that the log grows by what was sent.
 */
async function batchOf(call: Call, batch: readonly EventContent[], factory: EventFactory): Promise<NewEvent[]> {
  const { binding, method, caller, headers } = call;
  const { traceparent, tracestate } = headers;
  const target = call.target.replace(/\?.*/s, '');
  const remoteAddress = () => call.remoteAddress();
  const brief = { binding, method, target, headers: { traceparent, tracestate }, caller, remoteAddress };
  const made: NewEvent[] = [];
  for (const event of batch) {
    const own = factory.make(made.length === 0 ? call : brief, event);
    made.push({ ...own, idempotencyKey: undefined, webhookId: undefined });
    if (made.length % 100 === 0) await letOthersRun();
  }
  return made;
}
