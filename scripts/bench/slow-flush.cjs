// Loaded into the service: every commit takes ten milliseconds longer, as on a disk that is slow to flush.
const { isMainThread } = require('node:worker_threads');

const FLUSH = 10;

if (!isMainThread) {
  const { DatabaseSync } = require('@photostructure/sqlite');
  const { prepare } = DatabaseSync.prototype;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  DatabaseSync.prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql);
    if (sql !== 'COMMIT') return statement;
    return {
      run() {
        Atomics.wait(clock, 0, 0, FLUSH);
        return statement.run();
      },
    };
  };
}
