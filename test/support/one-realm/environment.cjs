const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** What jest sends a worker that has nothing left to do (`CHILD_MESSAGE_END` of jest-worker). */
const END = 2;

// Jest kills a worker that takes longer than half a second to end, with a warning. Freeing its memory can take longer, and a server or
// thread that a failed test left open keeps it for ever.
if (process.send !== undefined) process.on('message', ([type]) => type === END && process.reallyExit(0));

/**
 * A test environment without a realm of its own: test files run in the realm of the jest worker, one after the other, and share
 * the modules of the build that `runtime.cjs` loads once. What a file leaves on the global object is removed at its end.
 */
module.exports = class OneRealmEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  #leftBehind = ownProperties(globalThis);
  #process = ownProperties(process);

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  getVmContext() {
    return globalThis;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  async setup() {
    // As Node has it. Jest sets 100, and each `expect` looks at as many.
    Error.stackTraceLimit = 10;
  }

  /** Takes every spy away after its test: the files that follow share what it spied on. */
  handleTestEvent({ name }) {
    if (name === 'test_done') this.moduleMocker.restoreAllMocks();
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    restore(globalThis, this.#leftBehind);
    restore(process, this.#process);
  }
};

function ownProperties(object) {
  return new Map(Reflect.ownKeys(object).map((key) => [key, Object.getOwnPropertyDescriptor(object, key)]));
}

/** Gives an object the properties back that it had. */
function restore(object, properties) {
  for (const key of Reflect.ownKeys(object)) if (!properties.has(key)) delete object[key];
  for (const [key, descriptor] of properties) {
    const current = Object.getOwnPropertyDescriptor(object, key);
    if (current?.value !== descriptor.value && current?.configurable !== false)
      Object.defineProperty(object, key, descriptor);
  }
}
