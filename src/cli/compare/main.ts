#!/usr/bin/env node
import { requireNode, VERSION } from '../../config/package-info';
requireNode();
import { readFile } from 'node:fs/promises';
import { HttpClient } from '../http-client';
import { fileError, print, printable, runProgram } from '../terminal';
import { compare, type Outcome } from './compare';
import { parseTask, USAGE, type Connection, type SettingsTask } from './compare-task';
import { addSettings, settingsFor } from './settings';
import { readService } from './wsdl';

/** The width of an output that is not a terminal, in characters. */
const FILE_WIDTH = 160;

/** The most bytes of an answer. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

async function main(): Promise<void> {
  const task = parseTask(process.argv.slice(2));
  switch (task.name) {
    case 'help':
      console.log(USAGE);
      return;
    case 'version':
      console.log(VERSION);
      return;
    case 'settings':
      process.exitCode = (await giveSettings(task)) ? 0 : 1;
      return;
    case 'compare': {
      const width = process.stdout.isTTY ? process.stdout.columns : FILE_WIDTH;
      process.exitCode = exitCodeOf(await compare(task, await clientFor(task), { print: printLines, width }));
    }
  }
}

/** Prints or writes settings. Resolves to whether the new service can take the place of the old one with them. */
async function giveSettings(task: SettingsTask): Promise<boolean> {
  const { wsdl, name } = await readService(task.old, await clientFor(task));
  const { lines, isComplete } = settingsFor(wsdl);
  const conflicts = task.file === undefined ? [] : await writeSettings(task.file, lines, name);
  if (task.file === undefined) await printLines(lines);
  if (!isComplete)
    console.error('These settings alone do not make the new service like the old one: read the comments.');
  return isComplete && conflicts.length === 0;
}

/** Adds settings to a file, says which, and returns a sentence for each that the file has with another value. */
async function writeSettings(file: string, lines: readonly string[], name: string): Promise<readonly string[]> {
  const { added, conflicts } = await addSettings(file, lines);
  const isThere = conflicts.length === 0 ? `: it has the settings of ${name} already` : '';
  const title = added.length === 0 ? `${file} was not changed${isThere}.` : `Added to ${file}, from ${name}:`;
  await printLines([title, ...added.map((line) => `  ${line}`), ...conflicts]);
  return conflicts;
}

async function clientFor({ caFile, isInsecure, timeout }: Connection): Promise<HttpClient> {
  const ca =
    caFile === undefined
      ? undefined
      : await readFile(caFile, 'utf8').catch((error: unknown) => {
          throw fileError(caFile, 'read', error);
        });
  return new HttpClient({ ca, isInsecure, timeout, maxBytes: MAX_ANSWER_BYTES });
}

function exitCodeOf({ differences, failures }: Outcome): number {
  if (failures > 0) return 2;
  return differences > 0 ? 1 : 0;
}

/** Prints lines in which servers may have written. */
function printLines(lines: readonly string[]): Promise<void> {
  return print(lines.map((line) => `${printable(line)}\n`).join(''));
}

runProgram(main, () => 2);
