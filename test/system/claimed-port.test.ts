import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeUnless, missingPrograms } from '../support/tools';

const run = promisify(execFile);

const missing =
  missingPrograms({ unshare: 'util-linux', ip: 'iproute2' }) ??
  (spawnSync('unshare', ['-rn', 'true']).status === 0 ? undefined : 'the right to make a network namespace');

describeUnless(missing, 'a port that the supervisor picked', () => {
  /** A network of its own, whose system has eight ports to give. */
  const network = 'ip link set lo up && echo "40000 40007" > /proc/sys/net/ipv4/ip_local_port_range && exec "$0" "$@"';
  const script = join(__dirname, '..', 'support', 'claimed-port.cjs');

  it.each(['127.0.0.1', '0.0.0.0', '::1', '::'])(
    'on %s is given to nobody before workers listen on it',
    async (host) => {
      const { stdout } = await run('unshare', ['-rn', 'sh', '-c', network, process.execPath, script, host]);
      const { claimed, others, worker } = JSON.parse(stdout) as { claimed: number; others: unknown[]; worker: unknown };
      expect(others).toContain('EADDRINUSE');
      expect(others).not.toContain(claimed);
      expect(worker).toBe(claimed);
    },
  );
});
