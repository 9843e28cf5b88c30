#!/usr/bin/env node
import { BUILD, requireNode } from '../../util/program';
requireNode();
import { Contract } from '../../contract/contract';
import { HttpClient } from '../http-client';
import { printLines, runProgram, textOf } from '../terminal';
import { option, ToolCommand } from '../tool-command';
import { compare } from './compare';
import { addSettings, settingsFor } from './settings';
import { readService } from './wsdl';

function compareCommand(): ToolCommand {
  const program = new ToolCommand('asmx-webhook compare').enablePositionalOptions();
  program
    .version(BUILD.name, '-v, --version')
    .usage('[options] <old> <new>\n       asmx-webhook compare settings [options] <old>')
    .description('Compares the service that is to be replaced with the one that replaces it, as clients see them')
    .arguments('<old> <new>')
    .addHelpText('after', `\n${NOTES}`)
    .action(async (old: string, other: string, values: ReachValues) => {
      const { differences, failures } = await compare(old, other, await clientFor(values));
      if (failures > 0) process.exitCode = 2;
      else if (differences > 0) process.exitCode = 1;
    });
  const finding = program
    .command('settings <old>')
    .description('Print the settings with which the new service replaces the old one, as lines of an .env file')
    .option('--write <file>', 'add them to an .env file; what the file has stays as it is')
    .addHelpText('after', `\n${NOTES}`)
    .action(async (old: string, values: ReachValues & { write?: string }) =>
      findSettings(old, values.write, await clientFor(values)),
    );
  for (const command of [program, finding]) {
    command
      .addOption(option('--ca <file>', 'trust the certificate authorities in a PEM file too'))
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

interface ReachValues {
  readonly ca?: string;
  readonly insecure?: boolean;
}

async function clientFor({ ca, insecure: isInsecure = false }: ReachValues): Promise<HttpClient> {
  // Authorities that are named replace all that Node trusts.
  const files = ca === undefined ? [] : [ca, process.env.NODE_EXTRA_CA_CERTS].flatMap((file) => file || []);
  return new HttpClient({ authorities: await Promise.all(files.map(textOf)), isInsecure });
}

/** Prints the settings, or adds them to a file. */
async function findSettings(old: string, file: string | undefined, client: HttpClient): Promise<void> {
  const { wsdl } = await readService(old, client);
  const { lines, isComplete } = settingsFor(wsdl, await Contract.load(undefined));
  if (file === undefined) await printLines(lines);
  else {
    const { added, conflicts } = await addSettings(file, lines);
    const title = added.length === 0 ? `${file} was not changed.` : `Added to ${file}:`;
    await printLines([title, ...added.map((line) => `  ${line}`), ...conflicts]);
    if (conflicts.length > 0) process.exitCode = 1;
  }
  if (isComplete) return;
  console.error('These settings alone do not make the new service like the old one: read the comments.');
  process.exitCode = 1;
}

/** Runs the tool with the environment of this process, and sets its exit code. */
export function runCompareTool(args: readonly string[]): Promise<void> {
  return runProgram(() => compareCommand().run(args), 2);
}

// The name of 1.0: asmx-webhook-compare.
if (require.main === module) void runCompareTool(process.argv.slice(2));
