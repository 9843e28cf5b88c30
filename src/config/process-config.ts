import { readFileSync } from 'node:fs';
import type { WebHookSettings } from '../settings';
import { loadConfig, readConfig, unknownSettings, type Config, type ProcessConfig } from './config';
import { environmentOfCommon } from './environment';
import { environmentOfInherited, withInheritedSockets } from './service-manager';
import { ConfigError } from './variable';

/**
 * Reads the configuration of a process of ours that runs the service, as `loadConfig` does, with the sockets that a service manager
 * passed on, and with no more connections than the process may have files open.
 *
 * @param warn - called with a sentence for each thing that is not as it was configured.
 * @throws {ConfigError} the service cannot run with it.
 */
export function processConfig(warn: (message: string) => void): ProcessConfig {
  return withInheritedSockets(withinDescriptors(loadConfig(warn), warn), process.env);
}

/** The variables that a supervisor adds to the environment of its workers, which listen on this port. */
export function environmentOfWorkers(
  { inherited, settings }: ProcessConfig,
  port: number,
  writerProtocol: number,
): Readonly<Record<string, string>> {
  const common = environmentOfCommon({ port, writerProtocol, settings });
  return inherited === undefined ? common : { ...common, ...environmentOfInherited() };
}

/**
 * Reads the configuration that a program gives to the service that it embeds. Nothing is logged unless it says so.
 *
 * @throws {ConfigError} a setting is unknown or wrong.
 */
export function embeddedConfig(settings: WebHookSettings): Config {
  const unknown = unknownSettings(Object.keys(settings));
  if (unknown.size > 0) throw new ConfigError([...unknown.values()].join('\n'));
  const set = Object.entries(settings).filter(([, value]) => value !== undefined);
  const texts = Object.fromEntries(set.map(([name, value]) => [name, String(value)]));
  const config = withinDescriptors(readConfig({ LOG_LEVEL: 'silent', ...texts }));
  if (config.workers !== 1) throw new ConfigError('WORKERS must be 1 here: asmx-webhook runs several processes.');
  return config;
}

/** Files open besides callers' connections: programs, the log, the admin address, connections that are being refused. */
const OTHERS = 150;

/** Where Linux says what a process may have. */
const LIMITS_FILE = '/proc/self/limits';

/**
 * Bounds connections below the number of files that this process may have open: without a free one the log can neither be read
 * nor written.
 *
 * @param warn - called if that is fewer than `MAX_CONNECTIONS`.
 * @param limit - that number; only Linux tells it.
 * @throws {ConfigError} there are not enough for any connection.
 */
export function withinDescriptors<Settings extends Config>(
  config: Settings,
  warn: (message: string) => void = () => undefined,
  limit = descriptorLimit(),
): Settings {
  const { limits } = config;
  const most = limit - OTHERS;
  if (limits.maxConnections <= most) return config;
  const may = `this process may have ${String(limit)} files open at once`;
  const raise = 'Raise that limit (ulimit -n, LimitNOFILE of systemd, ulimits of Docker)';
  if (most < 1) throw new ConfigError(`${may}, and needs more than ${String(OTHERS)}. ${raise}.`);
  warn(`${may}: MAX_CONNECTIONS is ${String(most)}, not ${String(limits.maxConnections)}. ${raise}, or set less`);
  // Callers that wait leave connections for the others.
  const maxWaiting = Math.min(limits.maxWaiting, Math.floor(most * 0.8));
  return { ...config, limits: { ...limits, maxConnections: most, maxWaiting } };
}

function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync(LIMITS_FILE, 'utf8')) ?? [];
    return Number(soft ?? Infinity);
  } catch {
    return Infinity;
  }
}
