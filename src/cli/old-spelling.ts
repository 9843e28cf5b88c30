import { misuse } from './terminal';

/** Commands that were options in version 1.0. */
const FORMER_OPTIONS = ['forward', 'export', 'import', 'backup', 'restore', 'verify', 'compact', 'forget'];

/**
 * Writes arguments anew in which an option takes the place of the command, as in version 1.0: `--export FILE` becomes
 * `export FILE`. Returns undefined for any others.
 *
 * @throws {UsageError} they name two commands.
 */
export function inCommands(args: readonly string[]): string[] | undefined {
  if (args[0]?.startsWith('-') !== true) return undefined;
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const commands = new Set<string>();
  const rest: string[] = [];
  // A value that begins with a hyphen is an argument only after `--`.
  const last = args.slice(end + 1);
  for (const arg of args.slice(0, end)) {
    const [, name = '', value] = /^--(\w+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (!FORMER_OPTIONS.includes(name)) rest.push(arg);
    else {
      commands.add(name);
      if (value !== undefined) (value.startsWith('-') ? last : rest).push(value);
    }
  }
  const [command, other] = commands;
  if (command !== undefined && other !== undefined) throw misuse(`${command} and ${other} cannot be used together.`);
  if (command !== undefined) return [command, ...rest, ...(last.length === 0 ? [] : ['--', ...last])];
  if (rest.includes('--follow')) return ['follow', ...rest.filter((arg) => arg !== '--follow')];
  return rest.some((arg) => /^--since(?:=|$)/.test(arg)) ? ['print', ...rest] : undefined;
}
