// Programs that run beside tests and scripts, none of which outlives them. Scripts use it too, so it is no TypeScript.
const { spawn } = require('node:child_process');
const { randomUUID } = require('node:crypto');
const { once } = require('node:events');
const { createServer } = require('node:net');
const { join } = require('node:path');

const DIST = join(__dirname, '..', '..', 'dist');

/** @type {Set<Program>} */
const running = new Set();

/** Kills what a failed test left running. */
function killPrograms() {
  for (const program of running) program.child.kill('SIGKILL');
}
if (globalThis.afterAll) globalThis.afterAll(killPrograms);
else process.on('exit', killPrograms);

class Program {
  #output = '';
  /** What it has printed so far on standard output, and on standard error. */
  printed = { out: '', errors: '' };

  /** @param {import('node:child_process').ChildProcess} child */
  constructor(child) {
    /** @readonly */
    this.child = child;
    running.add(this);
    /** @param {'out' | 'errors'} where @param {Buffer | string} text */
    const add = (where, text) => {
      this.#output += text.toString();
      this.printed[where] += text.toString();
      child.emit('printed');
    };
    child.stdout?.on('data', (chunk) => add('out', chunk));
    child.stderr?.on('data', (chunk) => add('errors', chunk));
    // What it printed has come only when its pipes are closed.
    /** Resolves to the exit code, or to the signal that ended it. @readonly @type {Promise<number | NodeJS.Signals | null>} */
    this.ended = new Promise((resolve) => {
      child.on('error', (error) => add('errors', String(error)));
      child.on('close', (code, signal) => {
        running.delete(this);
        resolve(code ?? signal);
        add('out', '');
      });
    });
  }

  /** Everything that it has printed so far. */
  output() {
    return this.#output;
  }

  /**
   * Waits until the output has a match.
   *
   * @param {RegExp} pattern
   * @returns {Promise<RegExpExecArray>}
   */
  async prints(pattern) {
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found) return found;
      if (!running.has(this)) throw new Error(`it ended and did not print ${String(pattern)}: ${this.#output}`);
      await once(this.child, 'printed');
    }
  }

  /**
   * Sends a signal, also to a program that is stopped, and waits for the end.
   *
   * @param {NodeJS.Signals} [signal]
   */
  end(signal = 'SIGTERM') {
    this.child.kill(signal);
    this.child.kill('SIGCONT');
    return this.ended;
  }
}

/**
 * Starts a program with these variables and PATH.
 *
 * @param {readonly string[]} command
 * @param {Omit<import('node:child_process').SpawnOptions, 'env'> & { variables?: Readonly<Record<string, string | undefined>> }} [options]
 */
function run([program = '', ...args], { variables = {}, ...options } = {}) {
  const { PATH = '' } = process.env;
  const env = { PATH: `${PATH}:/usr/sbin`, ...variables };
  return new Program(spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options, env }));
}

/** Picks a port of the loopback address on which no program listens. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Numbers from 0 to 1, the same ones for the same seed (mulberry32).
 *
 * @param {number} seed
 */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

module.exports = {
  SERVICE: join(DIST, 'main.js'),
  TOOL: join(DIST, 'cli', 'events.js'),
  /**
   * First segment of the path of the services of a test file or script. While one of them is restarted its port is free, and another service
   * may get it: it answers 404 on this path, which no caller takes for an answer of its own.
   */
  SERVICE_ROOT: `test-${randomUUID()}`,
  killPrograms,
  run,
  freePort,
  randomOf,
};
