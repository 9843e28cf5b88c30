import { Deferred } from '../../src/util/promises';
import type { EventLog } from '../../src/log/event-log';

/** Begins to watch a log. */
export function watching(log: Pick<EventLog, 'watch'>) {
  /** The positions that were told, in order. */
  const told: number[] = [];
  let following: Deferred<number> = new Deferred();
  const end = log.watch((newest) => {
    told.push(newest);
    following.resolve(newest);
    following = new Deferred();
  });
  /** Resolves to the next position that is reported. */
  const next = () => following.promise;
  return {
    told,
    next,
    /** Resolves once this position or a later one has been told. */
    async reaches(position: number) {
      while ((told.at(-1) ?? -1) < position) await next();
    },
    end,
  };
}
