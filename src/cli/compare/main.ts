#!/usr/bin/env node
import { requireNode } from '../../config/package-info';
requireNode();
import { HttpClient, type Reach } from '../../util/http-client';
import { print, printable, runProgram } from '../terminal';
import { compare } from './compare';
import { compareCommand, type CompareCommands } from './compare-command';
import { addSettings, settingsFor } from './settings';
import { readService } from './wsdl';

/** The most bytes of an answer. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const COMMANDS: CompareCommands = {
  async compare(task, reach) {
    const { differences, failures } = await compare(task, clientFor(reach), printLines);
    if (failures > 0) process.exitCode = 2;
    else if (differences > 0) process.exitCode = 1;
  },
  async settings(old, file, reach) {
    const { wsdl, name } = await readService(old, clientFor(reach));
    const { lines, isComplete } = settingsFor(wsdl);
    const conflicts = file === undefined ? [] : await writeSettings(file, lines, name);
    if (file === undefined) await printLines(lines);
    if (!isComplete)
      console.error('These settings alone do not make the new service like the old one: read the comments.');
    if (!isComplete || conflicts.length > 0) process.exitCode = 1;
  },
};

function clientFor(reach: Reach): HttpClient {
  return new HttpClient(reach, MAX_ANSWER_BYTES);
}

/** Adds settings to a file, says which, and returns a sentence for each that the file has with another value. */
async function writeSettings(file: string, lines: readonly string[], name: string): Promise<readonly string[]> {
  const { added, conflicts } = await addSettings(file, lines);
  const isThere = conflicts.length === 0 ? `: it has the settings of ${name} already` : '';
  const title = added.length === 0 ? `${file} was not changed${isThere}.` : `Added to ${file}, from ${name}:`;
  await printLines([title, ...added.map((line) => `  ${line}`), ...conflicts]);
  return conflicts;
}

/** Prints lines in which servers may have written. */
function printLines(lines: readonly string[]): Promise<void> {
  return print(lines.map((line) => `${printable(line)}\n`).join(''));
}

/** Runs the tool with the arguments and the environment of this process, and sets its exit code. */
export function runCompareTool(): Promise<void> {
  return runProgram(
    () => compareCommand(COMMANDS).run(process.argv.slice(2)),
    () => 2,
  );
}

if (require.main === module) void runCompareTool();
