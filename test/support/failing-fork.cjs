/** Preloaded into the service: while the file that FAIL_FORK names exists, no process can be started. */
const { existsSync } = require('node:fs');
const childProcess = require('node:child_process');

const { fork } = childProcess;
childProcess.fork = (module, args, options) =>
  existsSync(process.env.FAIL_FORK ?? '')
    ? childProcess.spawn('/is/not/there', [], { stdio: 'ignore' })
    : fork(module, args, options);
