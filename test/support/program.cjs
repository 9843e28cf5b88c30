// Programs that run beside tests and scripts, none of which outlives them. Scripts use it too, so it is no TypeScript.
const { execFileSync, spawn } = require('node:child_process');
const { randomUUID } = require('node:crypto');
const { once } = require('node:events');
const { readFile } = require('node:fs/promises');
const { createServer } = require('node:net');
const { join } = require('node:path');

const DIST = join(__dirname, '..', '..', 'dist');

/** @type {Set<import('node:child_process').ChildProcess>} */
const runningPrograms = new Set();

/** Kills what a failed test left running. */
function killPrograms() {
  for (const child of runningPrograms) child.kill('SIGKILL');
}
if (globalThis.afterAll) globalThis.afterAll(killPrograms);
else process.on('exit', killPrograms);

/**
 * Starts a program with these variables and PATH.
 *
 * @param {readonly string[]} command
 * @param {Omit<import('node:child_process').SpawnOptions, 'env'> & { variables?: Readonly<Record<string, string | undefined>> }} [options]
 */
function run([program = '', ...args], { variables = {}, ...options } = {}) {
  const { PATH = '' } = process.env;
  const env = { PATH: `${PATH}:/usr/sbin`, ...variables };
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options, env });
  runningPrograms.add(child);
  let output = '';
  /** What it has printed so far on standard output, and on standard error. */
  const printed = { out: '', errors: '' };
  /** @param {'out' | 'errors'} where @param {unknown} text */
  const add = (where, text) => {
    output += String(text);
    printed[where] += String(text);
    child.emit('printed');
  };
  child.stdout?.on('data', (chunk) => add('out', chunk));
  child.stderr?.on('data', (chunk) => add('errors', chunk));
  child.on('error', (error) => add('errors', error));
  // What it printed has come only when its pipes are closed.
  const ended = /** @type {Promise<number | NodeJS.Signals | null>} */ (
    new Promise((resolve) => {
      child.on('close', (code, signal) => {
        runningPrograms.delete(child);
        resolve(code ?? signal);
        add('out', '');
      });
    })
  );
  return {
    child,
    printed,
    /** Resolves to the exit code, or to the signal that ended it. */
    ended,
    output: () => output,
    /**
     * Waits until the output has a match.
     *
     * @param {RegExp} pattern
     */
    async prints(pattern) {
      for (;;) {
        const found = pattern.exec(output);
        if (found) return found;
        if (!runningPrograms.has(child)) throw new Error(`it ended and did not print ${String(pattern)}: ${output}`);
        await once(child, 'printed');
      }
    },
    /**
     * Sends a signal, also to a program that is stopped, and waits for the end.
     *
     * @param {NodeJS.Signals} [signal]
     */
    end(signal = 'SIGTERM') {
      child.kill(signal);
      child.kill('SIGCONT');
      return ended;
    },
  };
}

/** @typedef {{ readonly child: Pick<import('node:child_process').ChildProcess, 'pid'> }} Program */

/** The process ids of a program's child processes (Linux). @param {Program} program */
async function childrenOf({ child: { pid } }) {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return list.trim().split(' ').filter(Boolean).map(Number);
}

/** The most memory that a program, or a child of it, has had resident, in bytes (Linux). @param {Program} program */
async function peakOf(program) {
  const peaks = [program.child.pid, ...(await childrenOf(program).catch(() => []))].map(async (id) => {
    const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '');
    return 1024 * Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0);
  });
  return Math.max(...(await Promise.all(peaks)));
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
 * Makes a certificate for localhost and its key in a folder, signed by itself or by another one there. Returns the settings that name
 * them. Needs openssl.
 *
 * @param {string} folder
 * @param {string} [name]
 * @param {string} [signer]
 */
function certificateIn(folder, name = 'cert', signer) {
  /** @param {string} of */
  const filesOf = (of) => ({ TLS_CERT: join(folder, `${of}.pem`), TLS_KEY: join(folder, `${of}-key.pem`) });
  const [tls, by] = [filesOf(name), filesOf(signer ?? name)];
  const how = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'.split(' ');
  const who = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const signed = signer === undefined ? [] : ['-CA', by.TLS_CERT, '-CAkey', by.TLS_KEY];
  const files = ['-keyout', tls.TLS_KEY, '-out', tls.TLS_CERT];
  execFileSync('openssl', [...how, ...who, ...signed, ...files], { stdio: 'ignore' });
  return tls;
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
  /** The tool by the name of 1.0. */
  TOOL: join(DIST, 'cli', 'events.js'),
  /**
   * First segment of the path of the services of a test file or script. While one of them is restarted its port is free, and another service
   * may get it: it answers 404 on this path, which no caller takes for an answer of its own.
   */
  SERVICE_ROOT: `test-${randomUUID()}`,
  killPrograms,
  run,
  childrenOf,
  peakOf,
  freePort,
  certificateIn,
  randomOf,
};
