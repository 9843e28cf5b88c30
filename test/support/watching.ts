import { Deferred } from '../../src/util/promises';
import type { EventLog } from '../../src/log/event-log';

/** A watch of a log that a test waits on. */
export interface Watching {
  /** The positions that were told, in order. */
  readonly told: readonly number[];
  /** Resolves to the next position that is reported. */
  next(): Promise<number>;
  /** Resolves once this position or a later one has been told. */
  reaches(position: number): Promise<void>;
  end(): void;
}

/** Begins to watch a log. */
export function watching(log: Pick<EventLog, 'watch'>): Watching {
  const told: number[] = [];
  let following: Deferred<number> = new Deferred();
  const end = log.watch((newest) => {
    told.push(newest);
    following.resolve(newest);
    following = new Deferred();
  });
  const next = () => following.promise;
  return {
    told,
    next,
    async reaches(position) {
      while ((told.at(-1) ?? -1) < position) await next();
    },
    end,
  };
}
