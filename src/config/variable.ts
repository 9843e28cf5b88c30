import { ValueError } from '../util/errors';

/** Thrown when the configuration has values that the service cannot use; the message names each one. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'ERR_WEBHOOK_CONFIG';
}

/** Reads the value that a text stands for, or throws a {@link ValueError}. */
export type Read<Value> = (text: string) => Value;

/** The problem of a text in quotes. */
export const QUOTES =
  'must not begin and end with a quote; remove the quotes, which belong to the value here, as with docker run --env-file';

export function isQuoted(text: string): boolean {
  return /^\s*(["'`])[^]*\1\s*$/.test(text);
}

type SettingGroup = 'Address' | 'Protocols' | 'Events' | 'Access' | 'TLS' | 'Limits' | 'Operation';

/** Without these variables something is open to everybody: an empty one or a typing error in a name stops the start. */
const GUARDS: readonly SettingGroup[] = ['Protocols', 'Access', 'TLS'];

interface Description {
  readonly description: string;
  /** The text that applies when the variable is not set. */
  readonly default?: string;
  /** The effect of leaving a variable without a default unset; `none` if omitted. */
  readonly otherwise?: string;
  /** No message shows the value, and it may also be given as a file, in the variable NAME_FILE. */
  readonly secret?: boolean;
  /** Returns the text for a message, without the secret in it. */
  readonly redact?: (text: string) => string;
  /** With WORKERS, the supervisor uses it itself: new workers cannot have another. */
  readonly supervised?: boolean;
  /** Without WORKERS, SIGHUP applies a new value, as for keys and secrets. */
  readonly isReloaded?: boolean;
}

/** An environment variable: its name, what it may hold, and what the documentation says about it. */
export class Variable<Value> {
  constructor(
    readonly group: SettingGroup,
    readonly name: string,
    private readonly read: Read<Value>,
    readonly about: Description,
  ) {}

  get names(): readonly string[] {
    return this.about.secret ? [this.name, `${this.name}_FILE`] : [this.name];
  }

  get guards(): boolean {
    return GUARDS.includes(this.group);
  }

  /** Parses the text of the variable; its default if that is undefined. */
  parse(text = this.about.default): { readonly value: Value } | { readonly problem: string } {
    if (text === undefined) return { value: undefined as Value };
    if (isQuoted(text)) return { problem: QUOTES };
    try {
      // `set PORT=80 && node …` of Windows' cmd sets "80 ". A password may end with a space; lists trim their members.
      return { value: this.read(this.about.secret ? text : text.trim()) };
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      return { problem: error.message };
    }
  }

  accepts(text: string): boolean {
    return 'value' in this.parse(text);
  }

  /** Says what is wrong with the text of the variable, which it shows unless it is secret. */
  problem(text: string | undefined, message: string): Problem {
    const { name } = this;
    const { secret, redact } = this.about;
    const shown = secret || text === undefined ? name : `${name}=${redact?.(text) ?? text}`;
    return { name, line: `${shown}: ${message}` };
  }
}

/** Something wrong with a variable. */
export interface Problem {
  readonly name: string;
  /** The whole message, which begins with the name. */
  readonly line: string;
}

/** @throws {ConfigError} there are problems: with a line for each, and the origin of its variable. */
export function refuse(problems: readonly Problem[], origin: (name: string) => string = () => ''): void {
  if (problems.length > 0) throw new ConfigError(problems.map(({ name, line }) => line + origin(name)).join('\n'));
}

/** Returns functions that define the variables of a section. */
export function section(group: SettingGroup) {
  const optional = <Value>(name: string, read: Read<Value>, description: Description) =>
    new Variable<Value | undefined>(group, name, read, description);
  return {
    optional,
    required: <Value>(name: string, read: Read<Value>, description: Description & { readonly default: string }) =>
      new Variable(group, name, read, description),
    secrets: <Value>(name: string, read: Read<Value>, description: string) =>
      optional(name, read, { description, secret: true }),
  };
}

/** Variables, in the structure of their settings. */
export interface VariableTable {
  readonly [setting: string]: Variable<unknown> | VariableTable;
}

export type SettingsOf<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends Variable<infer Value> ? Value : SettingsOf<Table[Key]>;
};

export function variablesOf(table: VariableTable): Variable<unknown>[] {
  return Object.values(table).flatMap((entry) => (entry instanceof Variable ? [entry] : variablesOf(entry)));
}
