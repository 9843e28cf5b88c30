import { Contract } from '../../src/contract/contract';
import { AccessControl } from '../../src/access/access-control';
import { ReaderThreads } from '../../src/call/reader-thread';
import { CloudEventError } from '../../src/events/cloudevents/attributes';
import { RequestError } from '../../src/http/errors';
import { Fault } from '../../src/soap/fault';
import { Admission } from '../../src/call/admission';
import { endpointHandler } from '../../src/app';
import { NO_REPORT } from '../../src/workers/worker';
import { readConfig } from '../../src/config/config';
import { Callers } from '../../src/http/callers';
import { BodyReader } from '../../src/http/content/body';
import { MediaType } from '../../src/http/content/media-type';
import { RateLimit } from '../../src/http/rate-limit';
import { HttpServer } from '../../src/http/server';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { CallError, type Operation, type Service } from '../../src/service/call';
import { NAMESPACE } from './bindings';

/** An endpoint with a service object of a test's own. */
export type TestEndpoint = Awaited<ReturnType<typeof startEndpoint>>;

const running = new Set<{ stop(): Promise<void> }>();

// Stops what a failed test left running.
afterAll(async () => {
  await Promise.all([...running].map((endpoint) => endpoint.stop()));
});

const silent: Operation = { access: 'open', run: () => Promise.resolve('') };

/**
 * Serves operations over all four bindings, on a free port; with the service's own contract unless another is given. The other
 * operations of the contract return an empty text.
 */
export async function startEndpoint(operations: Service, given?: Contract) {
  const contract = given ?? (await Contract.load(NAMESPACE));
  const service = { ...Object.fromEntries(contract.operations.map(({ name }) => [name, silent])), ...operations };
  const config = readConfig({ PORT: '0' });
  const { limits, path } = config;
  /** The calls that ended, in order. */
  const reports: { binding: string; operation: string | undefined; status: number; error: unknown }[] = [];
  /** The hints for the operator, in order. */
  const hints: { key: string; message: string }[] = [];
  const hint = (key: string, message: string) => void hints.push({ key, message });
  const log = openMemoryLog();
  const callers = new Callers(config);
  const handler = await endpointHandler({
    config,
    path,
    contract,
    service,
    log,
    callers,
    mediaType: MediaType.parse,
    admission: new Admission(limits),
    bodies: new BodyReader(config),
    reader: new ReaderThreads(config.maxRequestBytes, [RequestError, Fault, CloudEventError, CallError]),
    rate: new RateLimit(undefined, callers),
    access: new AccessControl(config, callers),
    observer: {
      hint,
      ended: ({ binding, operation, response }, error) =>
        void reports.push({ binding, operation, status: response.statusCode, error }),
    },
    refusals: () => Promise.resolve(NO_REPORT.refusals),
  });
  const server = new HttpServer({ handler, pages: new Map(), limits });
  const port = await server.listen(config);
  const started = {
    url: `http://127.0.0.1:${String(port)}${path}`,
    reports,
    hints,
    async stop(): Promise<void> {
      running.delete(started);
      await server.close();
      await log.close();
    },
  };
  running.add(started);
  return started;
}
