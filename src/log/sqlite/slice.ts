/** How long a slice of a long question may hold up the database thread, in milliseconds. */
const SLICE_TIME = 1;

/** When a slice that begins now has taken its time, as `performance.now` tells it. */
export function sliceDeadline(): number {
  return performance.now() + SLICE_TIME;
}
