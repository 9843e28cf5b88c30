import { join } from 'node:path';
import { BINDINGS, eventsOf, NAMESPACE, type BindingName } from '../support/bindings';
import { newEvent } from '../support/events';
import { startService } from '../support/service';
import { temporaryFolder } from '../support/temporary-folder';
import { describeUnless } from '../support/tools';
import { parsedText } from '../support/xml';
import { CLIENTS, TEXT, type Check } from './clients';
import { missingFor, runClient, type Transcript } from './toolchain';

/** How many clients are made and run at the same time; the compilers among them want a core each. */
const SIDE_BY_SIDE = 2;
/** The largest message that a WCF client accepts by default, in bytes. */
const WCF_LIMIT = 65_536;

/** A namespace that does not end with a slash. */
const SHOP = { namespace: 'urn:shop:hooks', unknown: 'urn:shop:hooks/Unknown' };
const RUNS = [
  ...CLIENTS.map((client) => ({ client, namespace: NAMESPACE, unknown: `${NAMESPACE}Unknown` })),
  ...CLIENTS.filter(({ folder }) => ['zeep', 'php', 'jax-ws'].includes(folder)).map((client) => ({ client, ...SHOP })),
].map((run) => ({ ...run, missing: missingFor(run.client) }));
type Run = (typeof RUNS)[number];

const transcripts = new Map<Run, Transcript>();

beforeAll(async () => {
  const folder = await temporaryFolder();
  const waiting = RUNS.filter(({ missing }) => missing === undefined);
  const work = async (): Promise<void> => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift())
      transcripts.set(run, await transcriptOf(run, join(folder, String(waiting.length))));
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
}, 600_000);

async function transcriptOf({ client, namespace }: Run, folder: string): Promise<Transcript> {
  const service = await startService({ SERVICE_NAMESPACE: namespace });
  // An answer of GetEvents is then as large as it may be.
  const data = `"data":"${'x'.repeat(1000)}"`;
  await service.log.append(...Array.from({ length: 100 }, () => newEvent({ data })));
  return runClient(client, service.url, folder, namespace).finally(() => service.stop());
}

for (const run of RUNS)
  describeUnless(run.missing, `${run.client.name}, with the namespace ${run.namespace}`, () => {
    const checks = BINDINGS.flatMap((binding) => (run.client.checks[binding] ?? []).map((check) => [binding, check]));
    it.each(checks as [BindingName, Check][])('over %s: %s', (binding, check) => {
      const { values, trouble } = transcripts.get(run) ?? { values: new Map<string, string>(), trouble: 'not run' };
      const value = values.get(`${binding} ${check}`);
      if (value === undefined) throw new Error(`it printed no "${binding} ${check}". ${trouble}`);
      EXPECTATIONS[check](value, binding, run, values);
    });
  });

type Expectation = (value: string, binding: BindingName, run: Run, values: Transcript['values']) => void;

const EXPECTATIONS: Readonly<Record<Check, Expectation>> = {
  HelloWorld: (value) => {
    expect(value).toBe('Hello World');
  },
  RecordEvent: (id, binding, _run, values) => {
    expect(listed(id, binding, values)?.binding).toBe(binding);
  },
  payload: (id, binding, { client }, values) => {
    // As XML, or as a field of a query or a form.
    const data = listed(id, binding, values)?.data;
    const note = typeof data === 'string' ? parsedText(data) : (data as { note: string }).note;
    expect(note).toBe(client.text ?? TEXT);
  },
  GetEvents: (value) => {
    expect(eventsOf(value).length).toBeGreaterThan(10);
  },
  fault: (value, binding, { unknown }) => {
    expect(value.replace(unknown, 'ACTION')).toMatch(FAULTS[binding]);
  },
  size: (value) => {
    expect(Number(value)).toBeGreaterThan(WCF_LIMIT / 2);
    expect(Number(value)).toBeLessThanOrEqual(WCF_LIMIT);
  },
  length: (value) => {
    const [received, announced] = value.split(' ');
    expect(announced).toBe(received);
  },
};

/** How a call of the operation `Unknown` ends: the name of the client's own type, and our message. */
const FAULTS: Readonly<Record<BindingName, RegExp>> = {
  soap11: /^\w\S* Client: .*Server did not recognize the value of HTTP Header SOAPAction: ACTION\./s,
  soap12: /^\w\S* Sender: .*(The action 'ACTION' was not recognized|without a valid action parameter)\./s,
  httpget: /^500 Unknown Web Service method name is not valid\.$/,
  httppost: /^500 Unknown Web Service method name is not valid\.$/,
};

function listed(id: string, binding: BindingName, values: Transcript['values']) {
  return eventsOf(values.get(`${binding} GetEvents`) ?? '[]').find((event) => event.id === id);
}
