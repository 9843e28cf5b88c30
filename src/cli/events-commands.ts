import { Option } from 'commander';
import { VARIABLES } from '../config/variables';
import type { Start } from '../log/queries';
import {
  filterOf,
  filterOptions,
  httpAddress,
  namedFile,
  sinceOption,
  sourceOf,
  sourceOptions,
  startOf,
  withOptions,
  type LogSource,
  type ReadingValues,
} from './events-options';
import type { PrintForm } from './archive';
import type { ForgetForm } from './upkeep';
import type { ForwardTask } from './forward/forward';
import { SIGNING } from '../forward/signing';
import type { Sender } from '../senders/sender';
import { FROM_THE_FIRST, type EventSelection } from './scan';
import { misuse, quoted } from './terminal';
import { option, repeatable, ToolCommand } from './tool-command';

/** A {@link ForwardTask} as the arguments give it. */
export interface ForwardOrder extends Omit<ForwardTask, 'asReceived' | 'metrics'> {
  /** Sends requests as they arrived, perhaps signed anew. */
  readonly received:
    { readonly signer: { readonly sender: Sender; readonly secretFile: string } | undefined } | undefined;
  readonly metricsPort: number | undefined;
}

/** The work of the commands on the event log; `-` is standard output or input. */
export interface LogCommands {
  print(source: LogSource, start: Start, form: PrintForm): Promise<void>;
  /** @param start - undefined: the events that are yet to be recorded. */
  follow(source: LogSource, start: Start | undefined, form: PrintForm): Promise<void>;
  forward(source: LogSource, order: ForwardOrder): Promise<void>;
  export(source: LogSource, file: string, start: Start): Promise<void>;
  import(file: string): Promise<void>;
  verify(): Promise<void>;
  forget(selection: EventSelection, how: ForgetForm): Promise<void>;
  compact(): Promise<void>;
  backup(file: string): Promise<void>;
  restore(file: string): Promise<void>;
}

interface PrintValues extends ReadingValues {
  readonly json?: boolean;
}

/** Returns the command line of the tool for the event log. */
export function eventsCommand(log: LogCommands): ToolCommand {
  const program = new ToolCommand('asmx-webhook-events').asTool();
  program
    .description('Works on the event log that EVENT_LOG names, also while the service runs.')
    .addHelpText('after', `\n${NOTES}\n\n${EXIT_CODES}`);
  const printing = () => [sinceOption(), ...filterOptions(), jsonOption(), ...sourceOptions()];
  withOptions(program.command('print'), printing())
    .description('Print all events, or those --since')
    .action(({ since = FROM_THE_FIRST, json = false, ...values }: PrintValues) =>
      log.print(sourceOf(values), since, { ...filterOf(values), json }),
    );
  withOptions(program.command('follow'), printing())
    .description('Print events as they are recorded, and before them those --since')
    .action(({ since, json = false, ...values }: PrintValues) =>
      log.follow(sourceOf(values), since, { ...filterOf(values), json }),
    );
  addForward(program, log);
  withOptions(program.command('export'), [sinceOption(), ...sourceOptions()])
    .description('Write all events, or those --since, to a new file')
    .argument('<file>')
    .action((file: string, { since = FROM_THE_FIRST, ...source }: ReadingValues) => log.export(source, file, since));
  program
    .command('import')
    .description('Record the events of a file that are not in the log yet')
    .argument('<file>')
    .action((file: string) => log.import(file));
  program
    .command('verify')
    .description('Look for damage in the log and in each event; a line for each finding')
    .action(() => log.verify());
  withOptions(program.command('forget'), [sinceOption(), ...filterOptions(), untilOption()])
    .description('Remove events for good: those named by id or sequence, or all that a search finds')
    .argument('[id...]')
    .option('--dry-run', 'print the events, and remove none')
    .option(
      '--rewrite',
      'also write a SQLite file anew, without remains of their keys; calls that record wait meanwhile',
    )
    .action((names: string[], values: ForgetForm & SelectionValues) => {
      const search = selectionOf(values);
      if ((names.length === 0) === (search === undefined))
        throw misuse('Say what to remove: give ids or sequences, or a search.');
      return log.forget(search ?? { names }, values);
    });
  program
    .command('compact')
    .description('Give the space of forgotten events in a SQLite file back to the file system')
    .action(() => log.compact());
  program
    .command('backup')
    .description('Copy a log in SQLite, as it is at one moment, to a new file')
    .argument('<file>', '', namedFile)
    .action((file: string) => log.backup(file));
  program
    .command('restore')
    .description('Put the events of such a copy in the place of those of the log, which is copied before')
    .argument('<file>', '', namedFile)
    .action((file: string) => log.restore(file));
  return program;
}

function jsonOption(): Option {
  return new Option('--json', 'print CloudEvents on a terminal, too, instead of a short line for each');
}

const NOTES = `Events are printed, exported and imported as one CloudEvent a line (NDJSON), with
what the log keeps beside it in the member _log; print and follow print short lines
on a terminal. A <file> may be - for standard output or input, except for backup, restore
and --position.`;

const EXIT_CODES = `Exit code: 0 done, 1 failed, or (verify) the log is not whole, or (export) damaged
events were left out, 2 arguments that make no sense.`;

const FORWARD_EXIT_CODES = `Exit code: 0 done, 1 failed, or some of the selected events were not found or not taken,
2 arguments that make no sense, 3 the address refused an event or redirected it.`;

const FORWARD_NOTES = `Events are posted in order, each until the address took it: with --follow as often as
needed, otherwise at most --tries times. On a terminal --follow passes over an event that
the address refuses, and Enter tries again at once.

--event, --type, --binding, --sender, --text, --header and --until select events; an
event must match all of them. With --follow they are the only ones that are posted.
Without it they are posted once and oldest first, and positions are neither read nor
changed.

FORWARD_SECRETS does what --secret does, and other users of the machine do not see it.`;

const SIGNING_NAMES = [...SIGNING.keys()];

/** The options that select events, as commander reads them. */
interface SelectionValues extends ReadingValues {
  readonly event?: readonly string[];
  readonly until?: Start;
}

/** The options of `forward`, as commander reads them. */
interface ForwardValues extends SelectionValues {
  readonly follow?: true;
  readonly position?: string;
  readonly asReceived?: true;
  readonly sign?: Sender;
  readonly secretFile?: string;
  readonly skipRefused?: true;
  readonly metricsPort?: number;
  readonly secret?: readonly string[];
  readonly tries?: number;
}

function addForward(program: ToolCommand, log: LogCommands): void {
  const until = untilOption();
  const search = [...filterOptions(), until];
  const names = search.map((each) => each.attributeName());
  const command = program
    .command('forward')
    .description('Post events to an address')
    .argument('<url>', 'an http or https address, or a port of this machine', target)
    .option('--follow', 'go on with events as they are recorded')
    .addOption(sinceOption())
    .addOption(
      option('--position <file>', 'keep the position in a file, and go on from there the next time', namedFile),
    )
    .addOption(
      new Option('--as-received', 'send the request as it arrived, instead of the CloudEvent').conflicts('secret'),
    )
    .addOption(
      option('--sign <sender>', `sign what is sent --as-received anew, as ${SIGNING_NAMES.join(', ')} signs`, signing),
    )
    .addOption(option('--secret-file <file>', 'a file with the secret for --sign', namedFile))
    .option('--skip-refused', 'pass over events that are answered with 4xx, instead of ending')
    .addOption(
      option('--tries <number>', 'post an event at most so often without --follow (3)', tries).conflicts('follow'),
    )
    .addOption(
      option(
        '--metrics-port <port>',
        'serve figures for Prometheus at this port of 127.0.0.1, or of ADMIN_HOST',
        setting('metrics-port', VARIABLES.admin.port),
      ),
    )
    .addOption(
      option(
        '--secret <secret>',
        'sign what is posted (Standard Webhooks) with whsec_ and base64',
        setting('secret', VARIABLES.forwardSecrets),
      ),
    )
    .addOption(
      repeatable('--event <id>', 'only the event with this id or sequence; may be given several times').conflicts([
        'follow',
        'since',
        ...names,
      ]),
    )
    .addHelpText('after', `\n${FORWARD_NOTES}\n\n${FORWARD_EXIT_CODES}`);
  until.conflicts('follow');
  withOptions(command, [...search, ...sourceOptions()]).action((url: URL, values: ForwardValues) =>
    log.forward(sourceOf(values), forwardOrder(url, values)),
  );
}

function forwardOrder(url: URL, values: ForwardValues): ForwardOrder {
  const { since, follow = false, position, skipRefused = false, secret } = values;
  const selection = follow ? undefined : selectionOf(values);
  if (!follow && since === undefined && position === undefined && selection === undefined)
    throw misuse('Say what to forward: give --follow, --since, --position, --event or a search.');
  const filter = follow ? filterOf(values) : undefined;
  return {
    url,
    position,
    since,
    follow,
    selection,
    filter,
    secrets: secret,
    received: receivedOf(values),
    skipRefused,
    tries: values.tries ?? TRIES,
    metricsPort: values.metricsPort,
  };
}

function receivedOf({ asReceived, sign, secretFile }: ForwardValues): ForwardOrder['received'] {
  if ((sign === undefined) !== (secretFile === undefined) || (sign !== undefined && asReceived === undefined))
    throw misuse('--sign and --secret-file go together, with --as-received.');
  if (asReceived === undefined) return undefined;
  return { signer: sign && secretFile !== undefined ? { sender: sign, secretFile } : undefined };
}

function signing(name: string): Sender {
  const sender = SIGNING.get(name);
  if (sender !== undefined) return sender;
  throw misuse(`--sign ${quoted(name)} is not one of ${SIGNING_NAMES.join(', ')}.`);
}

function untilOption(): Option {
  return option('--until <when>', 'only events before a time, or up to a sequence', startOf('until'));
}

function selectionOf(values: SelectionValues): EventSelection | undefined {
  const { event, since, until, type, binding, sender, fromSender, text, header } = values;
  if (event !== undefined) return { names: event };
  if ([until, type, binding, sender, fromSender, text, header].every((value) => value === undefined)) return undefined;
  // A sequence stands for its event and those before it.
  const before = until?.since === undefined ? until && until.after + 1 : undefined;
  const about = { type, binding, sender, fromSender, text };
  const search = { ...about, after: since?.after, from: since?.since, before, to: until?.since };
  return { search, headers: filterOf(values).headers };
}

/** How often an event is posted without --follow. */
const TRIES = 3;

function tries(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw misuse(`--tries ${quoted(text)} is not a number from 1 on.`);
}

/** A port of this machine, a host with a port, or `localhost`, each perhaps with a path. */
const WITHOUT_SCHEME = /^(?:localhost|[\w.-]+:\d+|\[[\da-f:]+\]:\d+)(?=$|[/?])/i;

function target(text: string): URL {
  const address = text.replace(/^:?(?=\d{1,5}(?:$|[/?]))/, 'localhost:');
  const url = httpAddress(WITHOUT_SCHEME.test(address) ? `http://${address}` : address);
  if (url !== undefined) return url;
  throw misuse(
    'forward needs an address: http://127.0.0.1:3000/hook, localhost:3000/hook, or 3000 for a port of this machine.',
  );
}

/** Returns a parser for the value of an option that a setting has, too. */
function setting(
  name: string,
  variable: typeof VARIABLES.forwardSecrets | typeof VARIABLES.admin.port,
): (text: string) => unknown {
  return (text) => {
    const parsed = variable.parse(text);
    if ('problem' in parsed) throw misuse(`--${name} ${parsed.problem}.`);
    return parsed.value;
  };
}
