import { readFileSync } from 'node:fs';
import type { Reach } from '../../util/http-client';
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
    .argument('<new>')
    .addOption(
      repeatable(
        '--call <operation>',
        'also call RecordEvent or GetEvents on both services; RecordEvent records an event',
        askedOperation,
      ),
    )
    .addHelpText('after', `\n${NOTES}`)
    .action((old: string, other: string, { call = [], ...reach }: CompareValues) =>
      commands.compare({ old, new: other, asked: call }, reachOf(reach)),
    );
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
      .option('--insecure', 'accept any certificate, and TLS older than 1.2');
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
}

interface CompareValues extends ReachValues {
  readonly call?: readonly AskedOperation[];
}

/** How long an answer may take, in milliseconds. */
const TIMEOUT = 30_000;

function reachOf({ ca, insecure: isInsecure = false }: ReachValues): Reach {
  return { ca, isInsecure, timeout: TIMEOUT };
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
