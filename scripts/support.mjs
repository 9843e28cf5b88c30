// What several scripts need: programs that run beside them, and figures.
import { readdir, readFile } from 'node:fs/promises';
import program from '../test/support/program.cjs';

export const { certificateIn, freePort, randomOf, run, SERVICE } = program;

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

/** The most memory that a process, or a child of it, has had resident, in MiB. */
export async function peakMebibytes(pid) {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const peaks = [pid, ...children.trim().split(' ').filter(Boolean)].map(async (id) => {
    const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '');
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  });
  return Math.max(...(await Promise.all(peaks)));
}
