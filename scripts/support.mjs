// What several scripts need: programs that run beside them, and figures.
import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import program from '../test/support/program.cjs';

export const { freePort, randomOf, run, SERVICE } = program;

/** Seconds of processor time that each thread of a process has taken so far, by its id. */
export async function threadSeconds(pid) {
  const ids = await readdir(`/proc/${pid}/task`);
  // The first figure of schedstat is the time in nanoseconds.
  const times = ids.map(async (id) => parseInt(await readFile(`/proc/${pid}/task/${id}/schedstat`, 'utf8')) / 1e9);
  return new Map((await Promise.all(times)).map((seconds, i) => [Number(ids[i]), seconds]));
}

/** The middle of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/** Makes a certificate for localhost in a folder. Returns the settings that name it. Needs openssl. */
export function certificateIn(folder) {
  const tls = { TLS_CERT: join(folder, 'cert.pem'), TLS_KEY: join(folder, 'key.pem') };
  const options = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout ${tls.TLS_KEY} -out ${tls.TLS_CERT}`;
  execFileSync('openssl', options.split(' '), { stdio: 'ignore' });
  return tls;
}

/** The most memory that a process, or a child of it, has had resident, in MiB. */
export async function peakMebibytes(pid) {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const peaks = [pid, ...children.trim().split(' ').filter(Boolean)].map(async (id) => {
    const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '');
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  });
  return Math.max(...(await Promise.all(peaks)));
}
