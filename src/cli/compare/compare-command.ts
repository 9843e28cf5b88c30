import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import { parseDuration } from '../../util/time';
import type { Reach } from '../http-client';
import { fileError, misuse, quoted } from '../terminal';
import { option, repeatable, ToolCommand } from '../tool-command';
import type { AskedOperation } from './calls';
import type { CompareTask } from './compare';

/** The work of the commands; each service is an address or the name of a file. */
export interface CompareCommands {
  compare(task: CompareTask, reach: Reach): Promise<void>;
  /** @param file - the `.env` file to add the settings to; undefined: print them. */
  settings(old: string, file: string | undefined, reach: Reach): Promise<void>;
}

/** Returns the command line of the tool that compares two services. */
export function compareCommand(commands: CompareCommands): ToolCommand {
  const program = new ToolCommand('asmx-webhook-compare').asTool().enablePositionalOptions();
  program
    .usage('[options] <old> <new>\n       asmx-webhook-compare settings [options] <old>')
    .description('Compares the service that is to be replaced with the one that replaces it, as clients see them')
    .argument('<old>')
    .argument('[new]')
    .option('--brief', 'print differences in words only, not what the services answered')
    .option('--verbose', 'print what is the same too')
    .option('--no-calls', 'compare the WSDLs only')
    .addOption(
      repeatable(
        '--call <operation>',
        'also call RecordEvent or GetEvents on both services; RecordEvent records an event',
        askedOperation,
      ).conflicts('calls'),
    )
    .addOption(new Option('--write <file>').hideHelp())
    .addHelpText('after', `\n${NOTES}`)
    .action((old: string, other: string | undefined, values: CompareValues) => {
      if (other !== undefined) return commands.compare(taskOf(old, other, values), reachOf(values));
      if (values.brief === true || values.verbose === true || !values.calls || values.call !== undefined)
        throw misuse('There is nothing to compare with: give the address of the new service too.');
      console.error('The new spelling is: asmx-webhook-compare settings [options] <old>. The old one still works.');
      return commands.settings(old, values.write, reachOf(values));
    });
  const finding = program
    .command('settings')
    .description(
      'Print the settings with which the new service takes the place of the old one, as lines of an .env file',
    )
    .argument('<old>')
    .option('--write <file>', 'add them to an .env file; what the file has stays as it is')
    .addHelpText('after', `\n${NOTES}`)
    .action((old: string, values: ReachValues & { write?: string }) =>
      commands.settings(old, values.write, reachOf(values)),
    );
  for (const command of [program, finding]) {
    command
      .addOption(option('--ca <file>', 'trust the certificate authorities in a PEM file too', authority))
      .option('--insecure', 'accept any certificate, and TLS older than 1.2')
      .addOption(option('--timeout <duration>', 'longest time for each answer (30s)', timeout));
  }
  return program;
}

const NOTES = `<old> and <new> are addresses, as in http://host/webhooks/Services/WebHooks.asmx,
with ?WSDL or without, or files with a WSDL. Two addresses get the same harmless
calls. A service that asks for Basic authentication gets user and password from
its address: http://user:password@host/… All users of the machine see arguments.

Exit code: 0 a client sees no difference, 1 it sees one, or settings alone cannot
make the new service like the old one, 2 something could not be compared, read or
written.`;

/** Options as commander reads them. */
interface ReachValues {
  readonly ca?: string;
  readonly insecure?: boolean;
  readonly timeout?: number;
}

interface CompareValues extends ReachValues {
  readonly brief?: true;
  readonly verbose?: true;
  readonly calls: boolean;
  readonly call?: readonly AskedOperation[];
  readonly write?: string;
}

function taskOf(old: string, other: string, values: CompareValues): CompareTask {
  if (values.write !== undefined) throw misuse('--write is for the settings of one service: give its address alone.');
  const { brief: isBrief = false, verbose: isVerbose = false, calls: makesCalls, call: asked = [] } = values;
  return { old, new: other, isBrief, isVerbose, makesCalls, asked };
}

/** How long an answer may take, in milliseconds. */
const STANDARD_TIMEOUT = 30_000;
const MAX_TIMEOUT = 3_600_000;

function reachOf({ ca, insecure: isInsecure = false, timeout = STANDARD_TIMEOUT }: ReachValues): Reach {
  return { ca, isInsecure, timeout };
}

function authority(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw fileError(file, 'read', error);
  }
}

function askedOperation(name: string): AskedOperation {
  if (name === 'RecordEvent' || name === 'GetEvents') return name;
  throw misuse(`--call ${quoted(name)} is neither RecordEvent nor GetEvents.`);
}

function timeout(text: string): number {
  const timeout = parseDuration(text);
  if (timeout !== undefined && timeout > 0 && timeout <= MAX_TIMEOUT) return timeout;
  throw misuse(`--timeout ${quoted(text)} is not a duration up to 1h, as in 30s.`);
}
