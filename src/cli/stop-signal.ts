/** Returns a signal that is aborted when the process is asked to end, by SIGINT or SIGTERM, for the first time. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.once(name, () => {
      stop.abort(new Error('Stopped before the end.'));
    });
  }
  return stop.signal;
}
