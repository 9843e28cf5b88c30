// Loaded into the service as a process: on SIGUSR2 it collects garbage and tells how much memory it has then.
process.on('SIGUSR2', () => {
  globalThis.gc();
  globalThis.gc();
  process.stdout.write(`${JSON.stringify({ msg: 'memory', rss: process.memoryUsage.rss() })}\n`);
});
