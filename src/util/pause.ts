/** Holds up the thread for so many milliseconds: for a thread of its own that works synchronously, never for one that serves. */
export function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
