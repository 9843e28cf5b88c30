// Loaded into a server of the bench: measures the event loop's delay between the messages 'watch' and 'report', and not at other
// times, since looking every millisecond takes time itself.
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { isMainThread } = require('node:worker_threads');

if (isMainThread && process.send) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  process.on('message', (message) => {
    if (message === 'watch') {
      delay.reset();
      delay.enable();
    } else {
      delay.disable();
      process.send({ p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 });
    }
  });
  process.channel.unref();
}
