import { MultiBar, SingleBar } from 'cli-progress';
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

/** Reports forwarding on standard error: in lines, and on a terminal with a live line for each target below them. */
export class ForwardProgress {
  readonly #bars: MultiBar | undefined;
  readonly #targets: TargetProgress[] = [];

  constructor() {
    const format = '{label}{value} events forwarded | behind by {behind}';
    if (process.stderr.isTTY) this.#bars = new MultiBar({ format, stream: process.stderr, forceRedraw: true, fps: 4 });
  }

  /** @param label - precedes the figures of the target; empty for the only one. */
  add(label: string): TargetProgress {
    const bar = this.#bars?.create(0, 0, { label, behind: '?' });
    const target = new TargetProgress(label, this.report, bar);
    this.#targets.push(target);
    return target;
  }

  readonly report = (line: string): void => {
    if (this.#bars === undefined) console.error(line);
    else this.#bars.log(`${line}\n`);
  };

  /** Prints what was done. */
  end(): void {
    this.#bars?.update();
    this.#bars?.stop();
    for (const target of this.#targets) console.error(target.summary);
  }
}

/** Counts what was forwarded to one target. */
export class TargetProgress {
  readonly #label: string;
  readonly #bar: SingleBar | undefined;
  #forwarded = 0;
  #skipped = 0;

  constructor(
    label: string,
    readonly report: (line: string) => void,
    bar: SingleBar | undefined,
  ) {
    this.#label = label;
    this.#bar = bar;
  }

  forwarded(): void {
    this.#forwarded++;
    this.#bar?.update(this.#forwarded);
  }

  /** Counts an event that was passed over, and prints the reason. */
  skipped(reason: string): void {
    this.#skipped++;
    this.report(reason);
  }

  /** Shows the number of events still to be forwarded. */
  behind(events: number): void {
    this.#bar?.update({ behind: String(events) });
  }

  /** Whether {@link behind} is shown. */
  get isLive(): boolean {
    return this.#bar !== undefined;
  }

  get summary(): string {
    const skipped = this.#skipped === 0 ? '' : `, ${String(this.#skipped)} passed over`;
    return `${this.#label}${String(this.#forwarded)} ${this.#forwarded === 1 ? 'event' : 'events'} forwarded${skipped}.`;
  }
}
