// Starts three nats-servers, two instances of the service and nginx in front of them, all on the loopback interface, and
// stops them on Ctrl-C: node scripts/cluster/start.mjs. Needs `npm run build`, nats-server and nginx.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { claimPort } from '../../dist/workers/claim-port.js';

const PATH = `${process.env.PATH}:/usr/sbin`;
const PASSWORD = randomBytes(12).toString('hex');
const READY_WITHIN = 30_000;

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a program and keeps its output. `end` sends it a signal and resolves once it has ended. */
function start(program, args, env = {}) {
  const child = spawn(program, args, { env: { PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve((output += error.message)));
    child.once('exit', resolve);
  });
  void ended.then(() => running.delete(child));
  return {
    child,
    output: () => output,
    signal: (name) => child.kill(name),
    async end(name) {
      child.kill(name);
      child.kill('SIGCONT');
      await ended;
    },
    /** Resolves once its output contains a text. */
    async prints(text) {
      for (const deadline = Date.now() + READY_WITHIN; !output.includes(text); await setTimeout(20)) {
        if (!running.has(child) || Date.now() > deadline)
          throw new Error(`${program} did not print "${text}": ${output}`);
      }
    },
  };
}

function freePorts(count) {
  return Promise.all(Array.from({ length: count }, () => claimPort({ host: '127.0.0.1', port: 0 })));
}

/** Starts nats-servers on free ports: one by itself, or several as a cluster. */
export async function startNats(folder, count) {
  const ports = await freePorts(count * 3);
  const routes = ports.slice(count, count * 2).map((port) => `nats://127.0.0.1:${port}`);
  const servers = ports.slice(0, count).map((port, i) => ({
    name: `n${i + 1}`,
    port,
    cluster: ports[count + i],
    monitor: ports[2 * count + i],
    store: join(folder, `n${i + 1}`),
  }));
  for (const server of servers) {
    const { name, port, cluster, monitor, store } = server;
    const file = join(folder, `${name}.conf`);
    const lines = [
      `server_name: ${name}`,
      `listen: "127.0.0.1:${port}"`,
      `http: "127.0.0.1:${monitor}"`,
      'max_payload: 8MB',
      `authorization { user: webhook, password: "${PASSWORD}" }`,
      `jetstream { store_dir: ${JSON.stringify(store)} }`,
    ];
    if (count > 1)
      lines.push(`cluster { name: webhook, listen: "127.0.0.1:${cluster}", routes: [${routes.join(', ')}] }`);
    await writeFile(file, lines.join('\n'));
    server.start = async () => {
      server.process = start('nats-server', ['-c', file]);
      await server.process.prints('Server is ready');
    };
  }
  await Promise.all(servers.map((server) => server.start()));
  const address = {
    servers: servers.map(({ port }) => `127.0.0.1:${port}`),
    user: 'webhook',
    pass: PASSWORD,
  };
  const hosts = address.servers.join(',');
  return {
    servers,
    address,
    eventLog: `nats://webhook:${PASSWORD}@${hosts}/EVENTS?replicas=${count}`,
    stop: () => Promise.all(servers.map((server) => server.process.end('SIGTERM'))),
  };
}

/** Starts an instance of the service and resolves once it is ready. */
export async function startInstance(variables, port = undefined) {
  const [chosen] = port === undefined ? await freePorts(1) : [port];
  const main = new URL('../../dist/main.js', import.meta.url).pathname;
  const env = { ...variables, PORT: String(chosen), TRUST_PROXY: 'loopback' };
  const instance = { port: chosen, url: `http://127.0.0.1:${chosen}/webhooks/Services/WebHooks.asmx` };
  instance.start = async () => {
    instance.process = start(process.execPath, [main], env);
    await instance.process.prints('WebHook answers at');
  };
  await instance.start();
  return instance;
}

/** Puts what is on this machine in the place of what deploy/nginx.conf names; each must be in it. */
function adapted(text, values) {
  return Object.entries(values).reduce((adaptedText, [from, to]) => {
    if (!adaptedText.includes(from)) throw new Error(`deploy/nginx.conf has no "${from}"`);
    return adaptedText.replace(from, () => to);
  }, text);
}

/**
 * Starts nginx in front of instances, with deploy/nginx.conf but without TLS. A request that one instance did not answer goes to
 * another only if that cannot record an event twice: nginx repeats a POST only when it could not reach the first instance, but
 * repeats every GET, so GET RecordEvent goes to one instance only. A sender that gets no answer sends again with its
 * Idempotency-Key.
 */
async function startNginx(folder, instances) {
  const [port] = await freePorts(1);
  const file = join(folder, 'nginx.conf');
  const deployed = await readFile(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8');
  const upstream = '  server 127.0.0.1:8080 max_fails=1 fail_timeout=1s;\n';
  const server = adapted(deployed, {
    [upstream]: instances.map(({ port: inner }) => upstream.replace('8080', String(inner))).join(''),
    'listen 443 ssl': `listen 127.0.0.1:${port}`,
    '  ssl_certificate     /etc/ssl/hooks.pem;\n': '',
    '  ssl_certificate_key /etc/ssl/hooks.key;\n': '',
    // An instance that hangs is left sooner.
    'proxy_read_timeout 75s': 'proxy_read_timeout 15s',
  });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, 'nginx', kind)};`,
  );
  await mkdir(join(folder, 'nginx'));
  await writeFile(
    file,
    `daemon off; worker_processes 1; pid ${join(folder, 'nginx.pid')}; error_log stderr crit;
    events { worker_connections 1024; }
    http {
      access_log off; ${temporary.join(' ')}
${server}
    }`,
  );
  const nginx = start('nginx', ['-c', file, '-e', 'stderr']);
  const url = `http://127.0.0.1:${port}/webhooks/Services/WebHooks.asmx`;
  for (const deadline = Date.now() + READY_WITHIN; ; await setTimeout(20)) {
    if (
      await fetch(url).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      return { process: nginx, url };
    if (Date.now() > deadline) throw new Error(`nginx does not answer: ${nginx.output()}`);
  }
}

/** Starts the whole cluster in a temporary folder. */
export async function startCluster() {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-cluster-'));
  const stops = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  try {
    const nats = await startNats(folder, 3);
    stops.push(nats.stop);
    // The first start fails until the servers have elected a leader.
    const variables = { EVENT_LOG: nats.eventLog, EVENT_LOG_TIMEOUT: '5s' };
    const instances = [];
    for (let i = 0; i < 2; i++) {
      const instance = await retried(() => startInstance(variables));
      instances.push(instance);
      stops.push(() => instance.process.end('SIGTERM'));
    }
    const nginx = await startNginx(folder, instances);
    stops.push(() => nginx.process.end('SIGTERM'));
    return { nats, instances, url: nginx.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function retried(action) {
  for (const deadline = Date.now() + READY_WITHIN; ;) {
    try {
      return await action();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

if (process.argv[1] === import.meta.filename) {
  const cluster = await startCluster();
  console.log(`The service answers at ${cluster.url}\n`);
  for (const {
    url,
    process: { child },
  } of cluster.instances)
    console.log(`instance     pid ${child.pid}  ${url}`);
  for (const {
    name,
    port,
    process: { child },
  } of cluster.nats.servers) {
    console.log(`nats-server  pid ${child.pid}  ${name}, 127.0.0.1:${port}`);
  }
  console.log('\nKill any of them and keep calling. Ctrl-C stops them all.');
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await cluster.stop();
}
