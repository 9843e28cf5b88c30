import { Sender } from '../senders/sender';
import { Binding } from './values';
import { emptyGuards, unknownNames, withSecretFiles, type Texts, type UnknownName } from './environment';
import { refuse, Variable, variablesOf, type Problem, type SettingsOf, type VariableTable } from './variable';
import { VARIABLES } from './variables';

type AllSettings = SettingsOf<typeof VARIABLES>;

/** The service's configuration, checked and in the units that the code uses. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

/** How many of the largest bodies fit into MAX_BODY_MEMORY by default. */
const LARGEST_BODIES = 8;

/** In milliseconds, unless REQUEST_TIMEOUT is shorter. */
const HEADERS_TIMEOUT = 20_000;
const SEND_TIMEOUT = 30_000;

interface Reading {
  /** Says where a variable comes from, to be added to a message about it: ` (.env, line 3)`. */
  readonly origin?: (name: string) => string;
  /** Called for each name that no setting has, unless it is clearly misspelled, which is an error. */
  readonly onUnknown?: (name: UnknownName) => void;
}

/**
 * Reads the configuration from environment variables. An empty variable is ignored, unless it guards the service. Paths of
 * files become absolute, so that messages and log lines show where a file is.
 *
 * @throws {ConfigError} naming every variable that is wrong, its value and what is allowed.
 */
export function readConfig(environment: Texts, reading?: Reading) {
  const settings = readTable(VARIABLES, environment, { ...reading, contradictionsIn: contradictions });
  const { tls, limits, admin, protocols, documentation } = settings;
  const { cert, key } = tls;
  return {
    ...settings,
    eventLogSettings: { ...settings.eventLogServer, retention: settings.retention, isShared: settings.workers > 1 },
    /** Path of the endpoint, which is also the source of its own events. */
    path: `/${settings.serviceRoot}/Services/WebHooks.asmx`,
    /** The names of what PROTOCOLS and DOCUMENTATION switch off: bindings, and `documentation`. */
    off: [...Binding.all.filter((binding) => !protocols.has(binding)), ...(documentation ? [] : ['documentation'])],
    /** Files in PEM. Without them the service speaks plain HTTP, and without `clientCa` clients need no certificate. */
    tls: cert === undefined || key === undefined ? undefined : { ...tls, cert, key },
    /** Limits of what callers can use. Times are in milliseconds. */
    limits: {
      ...limits,
      maxBodyMemory: limits.maxBodyMemory ?? LARGEST_BODIES * settings.maxRequestBytes,
      headersTimeout: Math.min(limits.requestTimeout, HEADERS_TIMEOUT),
      /** How long a client may read nothing of its answer. */
      sendTimeout: Math.min(limits.requestTimeout, SEND_TIMEOUT),
    },
    /** The operator's address for health and metrics, if it is not the public one. */
    admin: admin.port === undefined ? undefined : { ...admin, port: admin.port },
  };
}

interface TableReading<Table> extends Reading {
  /** Finds valid settings that contradict each other. */
  readonly contradictionsIn?: (settings: SettingsOf<Table>, texts: Texts) => readonly Problem[];
}

/** Reads the settings of a table as {@link readConfig} does. */
export function readTable<Table extends VariableTable>(
  table: Table,
  environment: Texts,
  { origin, onUnknown, contradictionsIn = () => [] }: TableReading<Table>,
): SettingsOf<Table> {
  const variables = variablesOf(table);
  const unknown = unknownNames(variables, Object.keys(environment));
  for (const name of unknown) if (!name.isMisspelling) onUnknown?.(name);
  const unusable = [...emptyGuards(variables, environment), ...unknown.filter((name) => name.isMisspelling)];
  const usable = Object.entries(environment).filter(
    ([name, text]) => text !== '' && !unusable.some((one) => one.name === name),
  );
  const { texts, problems: fileProblems } = withSecretFiles(variables, Object.fromEntries(usable));
  const problems: Problem[] = [];
  const read = (part: VariableTable): object =>
    Object.fromEntries(
      Object.entries(part).map(([setting, entry]) => {
        if (!(entry instanceof Variable)) return [setting, read(entry)];
        const result = entry.parse(texts[entry.name]);
        if ('value' in result) return [setting, result.value];
        problems.push(entry.problem(texts[entry.name], result.problem));
        return [setting, undefined];
      }),
    );
  const settings = read(table) as SettingsOf<Table>;
  if (problems.length === 0) problems.push(...contradictionsIn(settings, texts));
  refuse([...unusable, ...fileProblems, ...problems], origin);
  return settings;
}

function contradictions(settings: AllSettings, texts: Texts): Problem[] {
  const { host, port, admin, tls, limits, protocols } = settings;
  const problems: Problem[] = [];
  const report = (variable: Variable<unknown>, message: string): void => {
    problems.push(variable.problem(texts[variable.name], message));
  };
  if (tls.cert !== undefined && tls.key === undefined) report(VARIABLES.tls.key, 'must be set together with TLS_CERT');
  if (tls.cert === undefined && (tls.key ?? tls.clientCa) !== undefined)
    report(VARIABLES.tls.cert, 'must be set together with TLS_KEY, and for TLS_CLIENT_CA');
  if (!protocols.has('httppost')) {
    const problem = 'needs httppost in PROTOCOLS';
    if (settings.webhookOrigins !== undefined) report(VARIABLES.webhookOrigins, problem);
    if (settings.recordPaths) report(VARIABLES.recordPaths, problem);
    if (settings.recordAnswer !== 'id') report(VARIABLES.recordAnswer, problem);
  }
  for (const { name, binding } of Sender.handshakes.all)
    if (settings.senderHandshakes?.includes(name) && !protocols.has(binding))
      report(VARIABLES.senderHandshakes, `needs ${binding} in PROTOCOLS for ${name}`);
  if (texts.ADMIN_HOST !== undefined && admin.port === undefined)
    report(VARIABLES.admin.host, 'needs ADMIN_PORT, which turns that address on');
  if (limits.maxBodyMemory !== undefined && limits.maxBodyMemory < settings.maxRequestBytes)
    report(VARIABLES.limits.maxBodyMemory, 'must not be less than MAX_REQUEST_BYTES');
  if (settings.workers > 1 && settings.eventLog.isVolatile)
    report(VARIABLES.workers, 'must be 1 with EVENT_LOG=memory:, as each process would have a log of its own');
  if (settings.workers > 1 && port === 0)
    report(VARIABLES.port, 'must not be 0 with WORKERS, as each process would listen on a port of its own');
  const sharesAddress = host === admin.host || [host, admin.host].some((one) => one === '0.0.0.0' || one === '::');
  if (sharesAddress && port !== 0 && port === admin.port) report(VARIABLES.admin.port, 'must not be the same as PORT');
  return problems;
}
