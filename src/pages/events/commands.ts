import { BUILD } from '../../util/program';
import { EventData } from '../../events/payload';
import { sequenceOf, type StoredEvent } from '../../events/stored-event';
import { receivedRequest } from '../received-request';
import { command, SAFE } from '../shell-command';
import type { Contract } from '../../contract/contract';
import type { Filter } from './list-query';

export interface EndpointAddress {
  readonly contract: Contract;
  /** The public URL of the service, without the path of the endpoint. */
  readonly base: string;
  readonly path: string;
  /** Whether recording needs a key, for which a request has `KEY`. */
  readonly needsKey: boolean;
}

/** Returns the command of the tool that posts an event, or all that a search finds, to an address, unless no command fits every shell. */
export function forwardCommand(
  selected: { readonly position: number } | Filter,
  { base, path }: Pick<EndpointAddress, 'base' | 'path'>,
  form?: '--as-received',
): string | undefined {
  const options = 'position' in selected ? ['--event', sequenceOf(selected.position)] : searchOptions(selected);
  const service = SAFE.test(base + path) ? base + path : 'SERVICE';
  return command(BUILD.tool, ['forward', 'URL', ...(form ? [form] : []), ...options, '--from', service]);
}

function searchOptions({ text, type, binding, sender, fromSender, from, to }: Filter): string[] {
  const time = (value: number | undefined) => (value === undefined ? undefined : new Date(value).toISOString());
  const values = { text, type, binding, sender, 'from-sender': fromSender, since: time(from), until: time(to) };
  // A value that begins with a hyphen has to follow an equals sign.
  const options = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : `--${name}=${value}`));
  return options.length === 0 ? ['--since', '0'] : options;
}

/** Most bytes of a body that a command has itself, and of data that is read for a command. */
const MAX_INLINE = 4096;
const MAX_DATA = 1024 * 1024;

/**
 * Returns the command with which curl sends an event again, unless no command fits every shell or its data is large. A body that is
 * long, or unsafe in some shell, is sent from `file`, the download of the data.
 */
export function curlCommand(event: StoredEvent, address: EndpointAddress, file: string): string | undefined {
  if ((event.data?.length ?? 0) > MAX_DATA) return undefined;
  const { contract, base, path, needsKey } = address;
  const { method, target = `${path}/RecordEvent`, headers, body } = receivedRequest(event, contract);
  // An import may have brought a name that curl takes for that of a file, or a target that would be another host.
  if (!target.startsWith('/') || !headers.every(([name]) => /^[\w-]+$/.test(name))) return undefined;
  const fields = headers.map(([name, value]) => (value === '' ? `${name};` : `${name}: ${value}`));
  if (needsKey) fields.push('x-api-key: KEY');
  // Otherwise curl says that it sends a form.
  if (body !== undefined && !headers.some(([name]) => name === 'content-type')) fields.push('content-type:');
  const options = fields.flatMap((field) => ['-H', field]);
  if (method === 'HEAD') options.unshift('-I');
  else if (method !== 'GET' && (method !== 'POST' || body === undefined)) options.unshift('-X', method);
  const words = [base + target, ...options];
  if (body === undefined) return command('curl', words);
  const raw = [...words, '--data-raw', body.toString('latin1')];
  const inline = body.length <= MAX_INLINE ? command('curl', raw) : undefined;
  const isDownload = EventData.of(event)?.bytes().equals(body) === true;
  return inline ?? (isDownload ? command('curl', [...words, '--data-binary', `@${file}`]) : undefined);
}
