import { Command, CommanderError, Option } from 'commander';
import { oneLine } from '../util/text';
import { misuse } from './terminal';

/** A command of a tool, which says in one line what is wrong with its arguments. */
export class ToolCommand extends Command {
  constructor(name?: string) {
    super(name);
    this.exitOverride().configureOutput({ outputError: () => undefined });
  }

  override createCommand(name?: string): ToolCommand {
    return new ToolCommand(name);
  }

  addOptions(options: readonly Option[]): this {
    for (const each of options) this.addOption(each);
    return this;
  }

  /** @throws {UsageError} an option is followed by another one instead of its value. */
  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    const end = args.indexOf('--');
    for (const [i, arg] of args.slice(0, end === -1 ? undefined : end).entries()) {
      const value = args[i + 1];
      const needsValue = this.options.some(({ long, required }) => long === arg && required);
      if (needsValue && value !== undefined && /^-./.test(value))
        throw misuse(`${arg} needs a value. One that begins with - is written ${arg}=${oneLine(value)}.`);
    }
    return super.parseOptions(args);
  }

  /** Does what the arguments ask for. Throws a {@link UsageError} if they make no sense. */
  async run(args: readonly string[]): Promise<void> {
    const empty = args.findIndex((arg) => /^(?:--[\w-]+=)?$/.test(arg));
    if (empty !== -1)
      throw misuse(`${args[empty] || `The argument after ${oneLine(args[empty - 1] ?? '')}`} is empty.`);
    try {
      await this.parseAsync(args, { from: 'user' });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      if (error.exitCode === 0) return;
      throw misuse(error.code === 'commander.help' ? 'Nothing to do: give a command.' : inOneLine(error.message));
    }
  }
}

/** A message of commander as a sentence. An unknown option loses its value, which may be secret. */
function inOneLine(message: string): string {
  const text = message.replace(/^error: /, '').replace(/^(unknown option '[^=]*)=.*(?=')/s, '$1');
  const [, problem = text, suggestion = ''] = /^(.*?)\.?(?:\n\((Did you mean .*\?)\))?$/s.exec(text) ?? [];
  return `${problem.charAt(0).toUpperCase()}${oneLine(problem.slice(1))}.${suggestion && ` ${suggestion}`}`;
}

/** Returns an option whose value may be given once. `parse` throws if it does not accept the value. */
export function option(flags: string, description: string, parse: (text: string) => unknown = String): Option {
  const made = new Option(flags, description);
  return made.argParser((text, previous: unknown) => {
    if (previous !== undefined) throw misuse(`${made.long ?? flags} is given twice.`);
    return parse(text);
  });
}

/** Returns an option that may be given several times, and collects its values in an array. */
export function repeatable(flags: string, description: string, parse: (text: string) => unknown = String): Option {
  const made = new Option(flags, description);
  return made.argParser((text, previous: readonly unknown[] = []) => [...previous, parse(text)]);
}
