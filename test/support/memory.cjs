// Loaded into the service process: on SIGUSR2 it collects garbage and prints how much memory it then has.
process.on('SIGUSR2', () => {
  globalThis.gc();
  globalThis.gc();
  process.stdout.write(`${JSON.stringify({ msg: 'memory', ...process.memoryUsage() })}\n`);
});
