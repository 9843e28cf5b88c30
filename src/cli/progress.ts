import { SingleBar } from 'cli-progress';
import type { Progress } from '../log/event-log';

/** The least amount of work for which a bar is shown. */
const LONG = 10_000;

/** Starts a progress bar on standard error. Returns undefined if that is not a terminal or the work is short. */
export function progressBar(what: string, total: number): SingleBar | undefined {
  if (!process.stderr.isTTY || total < LONG) return undefined;
  const bar = new SingleBar({
    format: `{bar} {percentage} % | {value} of {total} ${what} | {eta_formatted} left`,
    stream: process.stderr,
  });
  bar.start(total, 0);
  return bar;
}

/** Runs a task, and shows the progress that it reports as {@link progressBar} does. */
export async function followProgress<T>(what: string, task: (progress: Progress) => Promise<T>): Promise<T> {
  let bar: SingleBar | undefined;
  try {
    return await task((done, total) => {
      bar ??= progressBar(what, total);
      bar?.setTotal(total);
      bar?.update(done);
    });
  } finally {
    bar?.stop();
  }
}
