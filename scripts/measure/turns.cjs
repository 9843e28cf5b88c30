// Loaded into the service: appends to a file of the process's id in the folder TURNS each time, in milliseconds of the main thread's
// processor time, for which everything else had to wait for more than a few milliseconds. What other programs do does not count.
const { existsSync, openSync, readSync, writeSync } = require('node:fs');
const { join } = require('node:path');
const { isMainThread } = require('node:worker_threads');

const SCHEDSTAT = '/proc/thread-self/schedstat';
const FEW = 3;

if (isMainThread && existsSync(SCHEDSTAT)) {
  const file = openSync(join(process.env.TURNS, String(process.pid)), 'a');
  const source = openSync(SCHEDSTAT, 'r');
  const buffer = Buffer.alloc(64);
  const processorTime = () => parseInt(buffer.toString('latin1', 0, readSync(source, buffer, 0, 64, 0))) / 1e6;
  let last = processorTime();
  setInterval(() => {
    const now = processorTime();
    if (now - last > FEW) writeSync(file, `${(now - last).toFixed(1)}\n`);
    last = now;
  }, 1).unref();
}
