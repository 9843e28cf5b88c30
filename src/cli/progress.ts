import { SingleBar } from 'cli-progress';

/** The least amount of work for which a bar is shown. */
const LONG = 10_000;

/** Starts a progress bar on standard error; undefined where that is not a terminal or the work is short. */
export function progressBar(what: string, total: number): SingleBar | undefined {
  if (!process.stderr.isTTY || total < LONG) return undefined;
  const bar = new SingleBar({
    format: `{bar} {percentage} % | {value} of {total} ${what} | {eta_formatted} left`,
    stream: process.stderr,
  });
  bar.start(total, 0);
  return bar;
}
