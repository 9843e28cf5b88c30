// Starts three nats-servers, two instances of the service and nginx in front of them, all on the loopback interface, and
// stops them on Ctrl-C: node scripts/cluster/start.cjs. Needs `npm run build`, nats-server and nginx.
const { randomBytes } = require('node:crypto');
const { once } = require('node:events');
const { mkdir, mkdtemp, readFile, rm, writeFile } = require('node:fs/promises');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');
const { freePort, run, SERVICE, SERVICE_ROOT } = require('../../test/support/program.cjs');

const PASSWORD = randomBytes(12).toString('hex');
const SERVERS = 3;

const urlAt = (port) => `http://127.0.0.1:${port}/${SERVICE_ROOT}/Services/WebHooks.asmx`;

/** Does something again and again until it succeeds; throws its error once half a minute is over. */
async function retried(action) {
  for (const deadline = Date.now() + 30_000; ; await delay(20)) {
    try {
      return await action();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

function freePorts(count) {
  return Promise.all(Array.from({ length: count }, () => freePort()));
}

/** Starts nats-servers on free ports, as a cluster. */
async function startNats(folder) {
  const [ports, routed, monitors] = await Promise.all([freePorts(SERVERS), freePorts(SERVERS), freePorts(SERVERS)]);
  const routes = routed.map((port) => `nats://127.0.0.1:${port}`).join(', ');
  const servers = ports.map((port, i) => ({
    name: `n${i + 1}`,
    port,
    monitor: monitors[i],
    store: join(folder, `n${i + 1}`),
  }));
  for (const [i, server] of servers.entries()) {
    const file = join(folder, `${server.name}.conf`);
    await writeFile(
      file,
      `server_name: ${server.name}
      listen: "127.0.0.1:${server.port}"
      http: "127.0.0.1:${server.monitor}"
      max_payload: 8MB
      authorization { user: webhook, password: "${PASSWORD}" }
      jetstream { store_dir: ${JSON.stringify(server.store)} }
      cluster { name: webhook, listen: "127.0.0.1:${routed[i]}", routes: [${routes}] }`,
    );
    server.start = async () => {
      server.process = run(['nats-server', '-c', file]);
      await server.process.prints(/Server is ready/);
    };
  }
  await Promise.all(servers.map((server) => server.start()));
  const address = { servers: ports.map((port) => `127.0.0.1:${port}`), user: 'webhook', pass: PASSWORD };
  return {
    servers,
    address,
    eventLog: `nats://webhook:${PASSWORD}@${address.servers.join(',')}/EVENTS?replicas=${SERVERS}`,
    stop: () => Promise.all(servers.map((server) => server.process.end())),
  };
}

/** Starts an instance of the service and resolves once it is ready. */
async function startInstance(variables) {
  const port = await freePort();
  const instance = { port, url: urlAt(port) };
  instance.start = async () => {
    const given = { ...variables, PORT: String(port), SERVICE_ROOT, TRUST_PROXY: 'loopback' };
    instance.process = run([process.execPath, SERVICE], { variables: given });
    await instance.process.prints(/WebHook answers at/);
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
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  const deployed = await readFile(join(__dirname, '../../deploy/nginx.conf'), 'utf8');
  const upstream = '  server 127.0.0.1:8080 max_fails=1 fail_timeout=1s;\n';
  const server = adapted(deployed, {
    [upstream]: instances.map(({ port: inner }) => upstream.replace('8080', String(inner))).join(''),
    '^/webhooks/.*/RecordEvent': `^/${SERVICE_ROOT}/.*/RecordEvent`,
    '^/webhooks/ {': `^/${SERVICE_ROOT}/ {`,
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
  const nginx = run(['nginx', '-c', file, '-e', 'stderr']);
  const url = urlAt(port);
  await retried(async () => {
    const { ok } = await fetch(url);
    if (!ok) throw new Error(`nginx does not answer: ${nginx.output()}`);
  });
  return { process: nginx, url };
}

/**
 * @typedef {{ name?: string, process: ReturnType<typeof run>, start(): Promise<void> }} Part
 * @typedef {Part & { name: string, monitor: number }} Server
 *
 * Starts the whole cluster in a temporary folder.
 *
 * @returns {Promise<{ nats: { servers: Server[], address: { servers: string[], user: string, pass: string } }, instances: (Part & { url: string })[], url: string, stop(): Promise<void> }>}
 */
async function startCluster() {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-cluster-'));
  const stops = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  try {
    const nats = await startNats(folder);
    stops.push(nats.stop);
    // The first start fails until the servers have elected a leader.
    const variables = { EVENT_LOG: nats.eventLog, EVENT_LOG_TIMEOUT: '5s' };
    const instances = [];
    for (let i = 0; i < 2; i++) {
      const instance = await retried(() => startInstance(variables));
      instances.push(instance);
      stops.push(() => instance.process.end());
    }
    const nginx = await startNginx(folder, instances);
    stops.push(() => nginx.process.end());
    return { nats, instances, url: nginx.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function main() {
  const cluster = await startCluster();
  console.log(`The service answers at ${cluster.url}\n`);
  const pidOf = (part) => `pid ${part.process.child.pid}`;
  for (const instance of cluster.instances) console.log(`instance     ${pidOf(instance)}  ${instance.url}`);
  for (const server of cluster.nats.servers)
    console.log(`nats-server  ${pidOf(server)}  ${server.name}, 127.0.0.1:${server.port}`);
  console.log('\nKill any of them and keep calling. Ctrl-C stops them all.');
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await cluster.stop();
}

module.exports = { startCluster };
if (require.main === module) void main();
