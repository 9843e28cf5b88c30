import { Option } from 'commander';
import { ProcessConfig } from '../../config/process-config';
import {
  filterOptions,
  namedFile,
  oneOf,
  selectionOf,
  sinceOption,
  sourceOptions,
  targetAddress,
  untilOption,
  type Values,
} from '../events-options';
import type { ReceivedMode, Signer } from './message';
import { Sender } from '../../senders/sender';
import { oneLine } from '../../util/text';
import { misuse } from '../terminal';
import { option, repeatable, ToolCommand } from '../tool-command';
import { withSource } from '../tool-log';

export function forwardCommand(): ToolCommand {
  const search = [...filterOptions(), untilOption().conflicts(['follow', 'position'])];
  return new ToolCommand('forward')
    .description('Post events to an address')
    .argument('<url>', 'an http or https address, or a port of this machine', targetAddress)
    .option('--follow', 'go on with events as they are recorded')
    .option('--skip-refused', 'pass over events that are answered with 4xx, instead of ending')
    .addOptions([
      sinceOption(),
      option('--position <file>', 'keep the position in a file, and go on from there the next time', namedFile),
      new Option('--as-received', 'send the request as it arrived, instead of the CloudEvent'),
      repeatable(
        '--sign <sender=file>',
        `as --as-received, and sign the requests of this sender anew, with the secret in the file; senders: ${Sender.recognised.join(', ')}`,
        secretOfSender,
      ).implies({ asReceived: true }),
      repeatable('--event <id>', 'only the event with this id or sequence; may be given several times').conflicts([
        'follow',
        'since',
        'position',
        ...search.map((each) => each.attributeName()),
      ]),
      ...search,
      ...sourceOptions(),
    ])
    .addHelpText('after', `\n${NOTES}\n\n${EXIT_CODES}`)
    .action(async (url: URL, values: Values) => {
      const { follow = false, since, position } = values;
      const keepsPosition = follow || position !== undefined;
      const selection = keepsPosition ? undefined : selectionOf(values);
      if (!keepsPosition && since === undefined && selection === undefined)
        throw misuse('Say what to forward: give --follow, --since, --position, --event or a search.');
      const asReceived = await receivedMode(values);
      const { forwardSecrets: secrets } = ProcessConfig.ofTool('forwardSecrets');
      const { forwardAfter, forwardSelected } = await import('./forward.js');
      await withSource(values, (log, stop) => {
        const forwarding = { log, url, mode: { secrets, asReceived }, values, stop };
        return selection === undefined ? forwardAfter(forwarding) : forwardSelected(selection, forwarding);
      });
    });
}

async function receivedMode({ asReceived = false, sign = [] }: Values): Promise<ReceivedMode | undefined> {
  if (!asReceived) return undefined;
  const { Contract } = await import('../../contract/contract.js');
  const { signerIn } = await import('./message.js');
  const contract = await Contract.load(ProcessConfig.ofTool('namespace').namespace);
  const signers = new Map<Sender, Signer>();
  for (const { sender, file } of sign) signers.set(sender, await signerIn(file, sender));
  if (signers.size < sign.length) throw misuse('--sign names a sender twice.');
  return { contract, signers };
}

function secretOfSender(text: string) {
  const [, name = '', file] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (file === undefined) throw misuse(`--sign ${oneLine(text)} is not SENDER=FILE.`);
  return { sender: Sender.named(oneOf('--sign', Sender.recognised)(name)), file };
}

const NOTES = `Events are posted in order, each until the address took it: with --follow as often as
needed, otherwise three times. On a terminal --follow passes over an event that the
address refuses or redirects.

--event, --type, --binding, --sender, --text, --header and --until select events; an
event must match all of them. With --follow or --position they are the only ones that are
posted; without, they are posted once more, oldest first.

With FORWARD_SECRETS, CloudEvents are signed (Standard Webhooks).`;

const EXIT_CODES = `Exit code: 0 done, 1 failed, or some of the selected events were not found or not taken,
2 arguments that make no sense, 3 the address refused an event or redirected it.`;
