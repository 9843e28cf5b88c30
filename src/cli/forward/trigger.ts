import { ProcessConfig } from '../../config/process-config';
import { Proxies } from '../../http/proxies';
import { Sender } from '../../senders/sender';
import { oneLine } from '../../util/text';
import { namedFile, oneOf, targetAddress, type Values } from '../events-options';
import { misuse, textOf } from '../terminal';
import { option, ToolCommand } from '../tool-command';

export function triggerCommand(): ToolCommand {
  return new ToolCommand('trigger')
    .description('Send a made-up request of a known sender, signed as it signs, to the service or another address')
    .argument('<sender>', Sender.recognised.join(', '), oneOf('The sender', Sender.recognised))
    .argument('[event]', "the sender's name of the event, as in push or orders/create")
    .addOptions([
      option('--to <url>', 'an address, or a port of this machine; by default the service itself', targetAddress),
      option('--secret-file <file>', 'a file with the secret; by default that of the service, only for it', namedFile),
      option('--data <file>', 'a file with the body to send instead', namedFile),
    ])
    .action(trigger);
}

async function trigger(name: string, given: string | undefined, { to, secretFile, data }: Values): Promise<void> {
  const { eventsOf, sampleOf } = await import('./samples.js');
  const { signerIn, signerOf } = await import('./message.js');
  const { answerText, HttpClient } = await import('../http-client.js');
  const sender = Sender.named(name);
  const events = eventsOf(name);
  const event = given ?? events[0] ?? '';
  const sample = sampleOf(name, event, data === undefined ? undefined : await textOf(data));
  if (sender === undefined || sample === undefined)
    throw misuse(`${name} has no sample ${oneLine(event)}, only ${events.join(', ')}: give the body with --data.`);
  const { id, body, headers } = sample;
  const isOwn = to === undefined;
  const ownSecrets = isOwn ? (ProcessConfig.ofTool('access').access[sender.signature.setting] ?? []) : [];
  const [ownSigner] = ownSecrets.flatMap((secret) => signerOf(sender, secret) ?? []);
  const signer = secretFile === undefined ? ownSigner : await signerIn(secretFile, sender);
  const url = to ?? serviceAddress();
  const began = performance.now();
  // As `--ready`, the certificate of this machine's service has another name.
  const answer = await new HttpClient({ isInsecure: isOwn, isDirect: isOwn }).ask(url, {
    method: 'POST',
    headers: { ...headers, ...signer?.(headers, id, body) },
    body,
  });
  const how = signer === undefined ? 'not signed, as no secret is known' : 'signed';
  const said = answer instanceof Error ? oneLine(answer.message) : answerText(answer, performance.now() - began);
  const line = `${sender.name} ${oneLine(event)} to ${url.origin}, ${how}: ${said}`;
  if (answer instanceof Error || answer.status >= 300) throw new Error(line);
  console.log(line);
}

function serviceAddress(): URL {
  const { host, port, tls, serviceRoot } = ProcessConfig.ofTool('host', 'port', 'tls', 'serviceRoot');
  const origin = `${tls.cert === undefined ? 'http' : 'https'}://${Proxies.localAuthority(host, port)}`;
  return new URL(`${origin}/${serviceRoot}/Services/WebHooks.asmx/RecordEvent`);
}
