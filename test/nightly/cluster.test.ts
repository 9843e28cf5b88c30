import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { jetstreamManager, type StreamAPI } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { eventually, succeeds } from '../support/eventually';
import { send } from '../support/http';
import { readEveryEvent, Load, verdict, WHOLE } from '../support/load';
import { startNats } from '../support/nats';
import { NGINX, startNginx } from '../support/nginx';
import { startProcess } from '../support/process';
import { freePort, SERVICE_ROOT } from '../support/program.cjs';
import { useSharedFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

const STREAMS = ['EVENTS', 'EVENTS_KEYS'];
/** How long the calls go on before an accident, and once both streams have a leader, in milliseconds. */
const BEFORE = 2000;
const AFTER = 6000;
/** Longest time without a successful call that is accepted while both streams have a leader, in milliseconds. */
const LIMIT = 5000;

type Process = Pick<Awaited<ReturnType<typeof startProcess>>, 'child' | 'end'>;

/** Starts a server or an instance, which can be taken away and started again. */
async function startPart<T extends object>(facts: T, begin: () => Promise<Process>) {
  const part = {
    ...facts,
    process: await begin(),
    async start() {
      part.process = await begin();
    },
  };
  return part;
}

type Part = Awaited<ReturnType<typeof startPart>>;

const SERVERS = ['n1', 'n2', 'n3'];

/** Starts three nats-servers, two instances of the service, and nginx in front of them with deploy/nginx.conf but without TLS. */
async function startCluster(folder: string) {
  const portsOf = () => Promise.all(SERVERS.map(() => freePort()));
  const [ports, routed, monitors] = [await portsOf(), await portsOf(), await portsOf()];
  const routes = routed.map((port) => `nats://127.0.0.1:${String(port)}`).join(', ');
  const servers = await Promise.all(
    SERVERS.map(async (name, i) => {
      await mkdir(join(folder, name));
      const cluster = `cluster { name: webhook, listen: "127.0.0.1:${String(routed[i])}", routes: [${routes}] }`;
      const configuration = `server_name: ${name}\nhttp: "127.0.0.1:${String(monitors[i])}"\n${cluster}`;
      return startPart({ name, monitor: monitors[i] }, () => startNats(join(folder, name), ports[i], configuration));
    }),
  );
  const nats = ports.map((port) => `127.0.0.1:${String(port)}`);
  const variables = { EVENT_LOG: `nats://${nats.join()}/EVENTS?replicas=3`, TRUST_PROXY: 'loopback' };
  const instances: (Part & { url: string })[] = [];
  for (const PORT of [String(await freePort()), String(await freePort())]) {
    const start = () =>
      startPart({ url: `http://127.0.0.1:${PORT}` }, () => startProcess({ ...variables, PORT }, folder));
    // The first start fails until the servers have elected a leader.
    await eventually('an instance starts', () => succeeds(start().then((instance) => instances.push(instance))));
  }
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}/${SERVICE_ROOT}/Services/WebHooks.asmx`;
  const addresses = instances.map((instance) => instance.url);
  const nginx = await startNginx(folder, addresses, url, {
    '^/webhooks/': `^/${SERVICE_ROOT}/`,
    'listen 443 ssl': `listen 127.0.0.1:${port}`,
    // An instance that hangs is left sooner.
    'proxy_read_timeout 75s': 'proxy_read_timeout 15s',
  });
  const parts = [...instances, ...servers];
  const stop = async () => {
    await nginx.end();
    for (const { process } of parts) await process.end('SIGTERM');
  };
  return { servers, nats, instances, url, stop };
}

describeWith({ 'nats-server': 'nats-server', ...NGINX }, 'three servers, two instances and nginx', () => {
  const folder = useSharedFolder();
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  let nats: NatsConnection;
  let streams: StreamAPI;
  beforeAll(async () => {
    cluster = await startCluster(folder.path);
    nats = await connect({ servers: cluster.nats, maxReconnectAttempts: -1 });
    ({ streams } = await jetstreamManager(nats));
  }, 60_000);
  afterAll(async () => {
    await nats.close();
    await cluster.stop();
  });

  const server = async (leads: boolean) => {
    const leader = (await streams.info('EVENTS')).cluster?.leader;
    return cluster.servers.find(({ name }) => (name === leader) === leads);
  };
  const readiness = async () => {
    const answers = cluster.instances.map(({ url }) => send(`${url}/readyz`).catch(() => ({ status: 0 })));
    return (await Promise.all(answers)).map(({ status }) => status);
  };

  /** Which of some servers leads each stream, as they say themselves. How long an election takes is up to nats-server. */
  const isLedByOneOf = async (servers: typeof cluster.servers) => {
    const led = servers.map(async ({ name, monitor }) => {
      const { body } = await send(`http://127.0.0.1:${String(monitor)}/jsz?accounts=true&streams=true`);
      type Details = { account_details?: { stream_detail?: { name: string; cluster?: { leader?: string } }[] }[] };
      const details = (JSON.parse(body) as Details).account_details?.[0]?.stream_detail ?? [];
      return details.filter((detail) => detail.cluster?.leader === name).map((detail) => detail.name);
    });
    const names = (await Promise.all(led)).flat();
    return STREAMS.every((stream) => names.includes(stream));
  };
  /** Whether every replica of both streams has caught up and every instance is ready. */
  const isHealthy = async () => {
    const infos = await Promise.all(STREAMS.map((stream) => streams.info(stream).catch(() => undefined)));
    const replicas = infos.flatMap((info) => info?.cluster?.replicas ?? []);
    return (
      replicas.filter(({ current }) => current).length === 4 && (await readiness()).every((status) => status === 200)
    );
  };

  const ACCIDENTS: readonly [NodeJS.Signals, string, () => Promise<Part | undefined>][] = [
    ['SIGKILL', 'the leader', () => server(true)],
    ['SIGKILL', 'a follower', () => server(false)],
    ['SIGKILL', 'an instance', () => Promise.resolve(cluster.instances[0])],
    ['SIGSTOP', 'the leader', () => server(true)],
  ];

  it('lose no answered event and record none twice, whichever part is taken away', async () => {
    // Every other caller sends each event again under its key until it is answered.
    const load = new Load(() => cluster.url, { callers: 50, pause: 20, copies: (caller) => (caller + 1) % 2 });
    const rows: Record<string, unknown>[] = [];
    for (const [signal, what, choose] of ACCIDENTS) {
      await setTimeout(BEFORE);
      const began = performance.now();
      const failed = load.failed;
      const part = await choose();
      if (part === undefined) throw new Error(`there is not ${what}`);
      part.process.child.kill(signal);
      const others = cluster.servers.filter((other) => other !== part);
      await eventually('another server leads the streams', () => isLedByOneOf(others), 60_000);
      const led = performance.now();
      await setTimeout(AFTER);
      const whileLed = load.longestPause(led);
      rows.push({
        what: `${signal} to ${what}`,
        'longest pause in ms': load.longestPause(began),
        'of it while led': whileLed,
        failed: load.failed - failed,
        readyz: (await readiness()).join(' '),
      });
      expect(whileLed).toBeLessThan(LIMIT);
      if (signal === 'SIGSTOP') part.process.child.kill('SIGCONT');
      else await part.start();
      await eventually('the cluster is whole again', isHealthy, 60_000);
    }
    await load.stop();
    console.table(rows);
    expect(verdict(load, await readEveryEvent(cluster.url))).toEqual(WHOLE);
    expect(load.answered.length).toBeGreaterThan(1000);
  }, 300_000);
});
