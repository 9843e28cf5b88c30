import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readConfig, readTable, type Config } from './config';
import { EnvFile, unknownNames, type Texts, type UnknownName } from './environment';
import { ConfigError, refuse, variablesOf, type Variable } from './variable';
import { VARIABLES } from './variables';

/** Tells workers the settings that their supervisor uses itself: a digest of each, by the name of its variable, as JSON. */
const SUPERVISOR = 'WEBHOOK_SUPERVISOR';

/** Settings of the service; the build writes the package's declaration of them from `variables.ts`. What is undefined is not set. */
export type WebHookSettings = Readonly<Record<string, string | number | boolean | undefined>>;

/** The configuration of a process of the service, unless a program embeds it. */
export interface ProcessConfig extends Config {
  /** The text of each variable that applies: its default if it is not set. The log's password also if it is in a file. */
  readonly texts: Texts;
  readonly environmentOfWorkers: Readonly<Record<string, string>>;
}

export const ProcessConfig = {
  /**
   * Reads the configuration of a process of the service, with no more connections than the process may have files open.
   *
   * @param warn - called for each name that resembles a setting, and if there are fewer connections than configured.
   * @throws {ConfigError} the service cannot run with it, or a worker would differ from its supervisor.
   */
  ofService(warn: (message: string) => void): ProcessConfig {
    const { texts, origin } = ownTexts();
    const onUnknown = ({ name, line, resembles }: UnknownName): void => {
      const place = origin(name);
      // The environment has variables of other programs.
      if ((resembles || place !== '') && name !== READ_KEY && !OF_OTHER_PROGRAMS.test(name)) warn(line + place);
    };
    const config = readConfig(texts, { origin, onUnknown });
    const variables = variablesOf(VARIABLES);
    const applied = Object.fromEntries(variables.map(({ name, about }) => [name, texts[name] || about.default]));
    // A worker must have the values that its supervisor uses itself.
    const supervised = variables.filter(({ about }) => about.supervised);
    const ownDigests = Object.fromEntries(
      supervised.map(({ name }) => [name, hash('sha256', applied[name] ?? '', 'base64')]),
    );
    const given = process.env[SUPERVISOR];
    const supervisorDigests = given === undefined ? ownDigests : (JSON.parse(given) as typeof ownDigests);
    const changed = supervised
      .filter(({ name }) => supervisorDigests[name] !== ownDigests[name])
      .map((variable) => variable.problem(texts[variable.name], 'takes effect when the service is restarted'));
    refuse(changed, origin);
    return {
      ...withinDescriptors(config, warn),
      texts: { ...applied, EVENT_LOG_PASSWORD: config.eventLogServer.password },
      environmentOfWorkers: { [SUPERVISOR]: JSON.stringify(ownDigests) },
    };
  },

  /** Returns the names of the variables whose new value needs a restart; of retention unless the log `appliesRetention`. */
  needRestart({ texts: old }: ProcessConfig, { texts }: ProcessConfig, appliesRetention: boolean): string[] {
    const isApplied = ({ about, group, name }: Variable<unknown>) => {
      if (group !== 'TLS') return group === 'Access' || (about.isReloaded && appliesRetention);
      // Files may change; whether there is TLS, and whether callers need a certificate, may not.
      return (old[name] === undefined) === (texts[name] === undefined);
    };
    return variablesOf(VARIABLES)
      .filter((variable) => old[variable.name] !== texts[variable.name] && !isApplied(variable))
      .map(({ name }) => name);
  },

  /** Reads some settings for a tool, or throws a {@link ConfigError}. Mistakes in others are the service's. */
  ofTool<Name extends keyof typeof VARIABLES>(...names: readonly Name[]) {
    const { texts, origin } = ownTexts();
    const table = Object.fromEntries(names.map((name) => [name, VARIABLES[name]]));
    return readTable(table as Pick<typeof VARIABLES, Name>, texts, { origin });
  },

  /** Returns the read key for a service elsewhere: the first in a text like READ_KEYS, without its name. */
  readKey(text = ownTexts().texts[READ_KEY]): string | undefined {
    return /^[\s,]*(?:[\w.-]{1,15} +)?([^\s,]+)/.exec(text ?? '')?.[1];
  },

  /** Reads the settings that a program gives to the service that it embeds. Nothing is logged unless it says so. */
  embedded(settings: WebHookSettings): Config {
    refuse(unknownNames(variablesOf(VARIABLES), Object.keys(settings)));
    const given = Object.entries(settings).filter(([, value]) => value !== undefined);
    const texts = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
    const config = withinDescriptors(readConfig({ LOG_LEVEL: 'silent', ...texts }));
    if (config.workers !== 1) throw new ConfigError('WORKERS must be 1 here: asmx-webhook runs several processes.');
    return config;
  },
};

const READ_KEY = 'WEBHOOK_READ_KEY';

const OF_OTHER_PROGRAMS = /^(?:NODE|COMPOSE|DOCKER|NPM|UV|SSL|TZ|LANG|LC|HTTPS?|NO)(?:_|$)/i;

/** The environment, and what an `.env` file adds to it: workers, which inherit the environment, read the file anew. */
function ownTexts() {
  const file = EnvFile.read('.env');
  const texts = withNamesOfSystem({ ...file.texts, ...process.env });
  const { PGPASSWORD, EVENT_LOG_PASSWORD, EVENT_LOG_PASSWORD_FILE } = texts;
  return {
    // PostgreSQL's own programs read PGPASSWORD.
    texts: EVENT_LOG_PASSWORD_FILE ? texts : { ...texts, EVENT_LOG_PASSWORD: EVENT_LOG_PASSWORD || PGPASSWORD },
    origin: (name: string): string => {
      const place = process.env[name] === undefined ? file.places.get(name) : undefined;
      return place === undefined ? '' : ` (${place})`;
    },
  };
}

/** Windows does not distinguish upper and lower case in the names of variables. */
function withNamesOfSystem(texts: Texts): Texts {
  if (process.platform !== 'win32') return texts;
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name.toUpperCase(), text]));
}

/** Files open besides callers' connections: programs, the log, the admin address, connections that are being refused. */
const OTHER_FILES = 150;

/**
 * Bounds connections below the number of files that this process may have open: without a free one the log can neither be read
 * nor written. Throws a {@link ConfigError} if no connection is left.
 */
export function withinDescriptors(
  config: Config,
  warn: (message: string) => void = () => undefined,
  limit = descriptorLimit(),
): Config {
  const { limits } = config;
  const free = limit - OTHER_FILES;
  if (limits.maxConnections <= free) return config;
  const fact = `this process may have ${String(limit)} files open at once`;
  const advice = 'Raise that limit (ulimit -n, LimitNOFILE of systemd, ulimits of Docker)';
  if (free < 1) throw new ConfigError(`${fact}, and needs more than ${String(OTHER_FILES)}. ${advice}.`);
  warn(`${fact}: MAX_CONNECTIONS is ${String(free)}, not ${String(limits.maxConnections)}. ${advice}, or set less`);
  return { ...config, limits: { ...limits, maxConnections: free } };
}

function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(soft ?? Infinity);
  } catch {
    return Infinity;
  }
}
