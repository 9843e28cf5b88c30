import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BINDINGS, eventsOf, requestOf, type BindingName, type CloudEvent } from '../support/bindings';
import { send } from '../support/http';
import { startProcess, type ServiceProcess } from '../support/process';
import { temporaryFolder } from '../support/temporary-folder';
import { describeUnless } from '../support/tools';
import { parsedText } from '../support/xml';
import { CALLS, CLIENTS, TEXT, type Check, type Client } from './clients';
import { missingFor, runClient, type Transcript } from './toolchain';

/** How many clients are made and run at the same time; the compilers among them want a core each. */
const SIDE_BY_SIDE = 2;

/** The largest message that a WCF client accepts by default, in bytes. */
const WCF_LIMIT = 65_536;

const plan = CLIENTS.map((client) => ({ client, missing: missingFor(client) }));
const transcripts = new Map<Client, Transcript>();
const passed = new Set<string>();
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: ServiceProcess;

beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startProcess({}, folder.path);
  await fillLog(service.url);
  const waiting = plan.filter(({ missing }) => missing === undefined).map(({ client }) => client);
  const work = async (): Promise<void> => {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) {
      const place = join(folder.path, client.folder);
      await mkdir(place);
      transcripts.set(client, await runClient(client, `${service.url}?WSDL`, place));
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
}, 300_000);

afterAll(async () => {
  await service.end('SIGTERM');
  await folder.remove();
  process.stdout.write(`\n${table()}\n\n`);
});

describe.each(plan)('$client.name', ({ client, missing }) => {
  describeUnless(missing, client.name, () => {
    for (const binding of BINDINGS) {
      const checks = client.checks[binding] ?? [];
      if (checks.length === 0) continue;
      it.each(checks)(`over ${binding}: %s`, (check) => {
        const transcript = transcripts.get(client);
        const value = transcript?.values.get(`${binding} ${check}`);
        if (transcript === undefined || value === undefined) {
          throw new Error(`it printed no "${binding} ${check}". ${transcript?.trouble ?? ''}`);
        }
        EXPECTATIONS[check](value, binding, transcript, client);
        passed.add(`${client.name} ${binding} ${check}`);
      });
    }
  });
});

type Expectation = (value: string, binding: BindingName, transcript: Transcript, client: Client) => void;

const EXPECTATIONS: Readonly<Record<Check, Expectation>> = {
  HelloWorld: (value) => {
    expect(value).toBe('Hello World');
  },
  RecordEvent: (value, binding, transcript) => {
    expect(listed(value, binding, transcript).binding).toBe(binding);
  },
  payload: (value, binding, transcript, client) => {
    const { data } = listed(value, binding, transcript);
    const text = typeof data === 'string' ? parsedText(data) : (data as { note: string }).note;
    expect(text).toBe(client.text ?? TEXT);
  },
  GetEvents: (value) => {
    expect(eventsOf(value).length).toBeGreaterThan(10);
  },
  fault: (value, binding) => {
    expect(value).toMatch(FAULTS[binding]);
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
  soap11:
    /^\w\S* Client: .*Server did not recognize the value of HTTP Header SOAPAction: http:\/\/tempuri\.org\/Unknown\./,
  soap12:
    /^\w\S* Sender: .*(The action 'http:\/\/tempuri\.org\/Unknown' was not recognized|without a valid action parameter)\./,
  httpget: /^500 Unknown Web Service method name is not valid\.$/,
  httppost: /^500 Unknown Web Service method name is not valid\.$/,
};

function listed(id: string, binding: BindingName, { values }: Transcript): CloudEvent {
  const event = eventsOf(values.get(`${binding} GetEvents`) ?? '[]').find((candidate) => candidate.id === id);
  if (event === undefined) throw new Error(`GetEvents over ${binding} does not list ${id}`);
  return event;
}

/** As many events as make each answer of GetEvents as large as it may be. */
async function fillLog(url: string): Promise<void> {
  const { path, ...question } = requestOf('httppost', 'RecordEvent');
  for (let count = 0; count < 100; count++) {
    await send(url + path, { ...question, body: `filling=${'x'.repeat(1000)}` });
  }
}

function table(): string {
  const rows = plan.map(({ client, missing }) => {
    const cells = BINDINGS.map((binding) => {
      const checks = client.checks[binding];
      if (checks === undefined) return '–';
      if (missing !== undefined) return 'skipped';
      const failed = checks.filter((check) => !passed.has(`${client.name} ${binding} ${check}`));
      if (failed.length > 0) return `FAILED: ${failed.join(', ')}`;
      return ['passed', ...checks.filter((check) => !CALLS.includes(check))].join(', ');
    });
    return [
      client.name,
      missing === undefined ? (transcripts.get(client)?.version ?? '') : `missing: ${missing}`,
      ...cells,
    ];
  });
  return [['client', 'version', ...BINDINGS], ['---', '---', ...BINDINGS.map(() => '---')], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
