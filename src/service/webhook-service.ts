import { eventOf, type EventDefaults } from '../events/event';
import type { EventLog, EventQuery, LoggedEvent } from '../events/event-log';
import { wireBytes } from '../events/wire-bytes';
import { ParameterError, type Access, type Call, type Fields, type Service } from './call';

/** What the operations are bound to. */
export interface ServiceOptions {
  /** CloudEvents attributes of an event whose sender named none. */
  readonly defaults: EventDefaults;
  /** Most events that GetEvents lists. */
  readonly limit: number;
  /** Most bytes that the string of GetEvents may take on the wire, in the measure of `wireBytes`. */
  readonly maxResultBytes: number;
}

/** What a caller needs for each operation, where keys are set. One that is not named here needs what recording needs. */
export const ACCESS: Readonly<Record<string, Access>> = {
  RecordEvent: 'record',
  GetEvents: 'read',
  HelloWorld: 'open',
};

/** The WebHook service: the three operations of the interface document on an event log. */
export function webhookService(log: EventLog, options: ServiceOptions): Service {
  return {
    /** Records what came with the call; returns the event's id once the event is durable. */
    async RecordEvent(call) {
      const { binding, method, target, headers } = call;
      const { attributes, payload } = call.content();
      const arrival = { binding, method, target, headers, remoteAddress: call.remoteAddress(), attributes, payload };
      const { id } = await log.append(await eventOf(arrival, options.defaults));
      return id;
    },

    /** Returns a CloudEvents JSON batch of the newest events, oldest first. */
    async GetEvents(call) {
      const events = await log.read(queryOf(call, options));
      return `[${events.map((event) => eventJson(event, call)).join(',')}]`;
    },

    HelloWorld: () => Promise.resolve('Hello World'),
  };
}

const BRACKETS_BYTES = 2;

function queryOf(call: Call, { limit, maxResultBytes }: ServiceOptions): EventQuery {
  const parameters = call.parameters();
  const allowed = `a whole number from 1 to ${String(limit)}`;
  return {
    id: textParameter(parameters, 'id'),
    after: numberParameter(parameters, 'after', 'a sequence: up to 20 digits', /^\d{1,20}$/),
    limit: Number(numberParameter(parameters, 'limit', allowed, /^\d{1,9}$/, 1n, BigInt(limit)) ?? limit),
    maxBytes: maxResultBytes - BRACKETS_BYTES,
    referenceBytes: wireBytes(dataReference({ id: '', sequence: '9'.repeat(20) }, call)),
  };
}

function textParameter(parameters: Fields, name: string): string | undefined {
  const value = parameters[name];
  if (Array.isArray(value) || value === '') throw new ParameterError(name, 'given once, with a value');
  return value;
}

function numberParameter(
  parameters: Fields,
  name: string,
  allowed: string,
  pattern: RegExp,
  from = 0n,
  to?: bigint,
): bigint | undefined {
  const text = parameters[name];
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || !pattern.test(text)) throw new ParameterError(name, allowed);
  const value = BigInt(text);
  if (value < from || (to !== undefined && value > to)) throw new ParameterError(name, allowed);
  return value;
}

function eventJson({ attributes, sequence, data, dataOmitted, id }: LoggedEvent, call: Call): string {
  // An event without its data refers to it; a reference of the sender's own would be a second one.
  const said = dataOmitted ? JSON.stringify({ ...(JSON.parse(attributes) as object), dataref: undefined }) : attributes;
  const head = `${said.slice(0, -1)},"sequence":"${sequence}"`;
  if (dataOmitted) return `${head}${dataReference({ id, sequence }, call)}}`;
  return data === undefined ? `${head}}` : `${head},${data}}`;
}

/** The CloudEvents `dataref` member: the address at which GetEvents returns this one event whole. */
function dataReference({ id, sequence }: Pick<LoggedEvent, 'id' | 'sequence'>, call: Call): string {
  const before = BigInt(sequence) - 1n;
  const url = `${call.endpointUrl()}/GetEvents?id=${encodeURIComponent(id)}&after=${String(before)}&limit=1`;
  return `,"dataref":${JSON.stringify(url)}`;
}
