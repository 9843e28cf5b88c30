import { readFileSync } from 'node:fs';
import type { Config } from './config';
import { ConfigError } from './variable';

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
