import { join } from 'node:path';
import { BINDINGS, eventsOf, type BindingName, type CloudEvent } from '../support/bindings';
import { temporaryFolder } from '../support/temporary-folder';
import { describeUnless } from '../support/tools';
import { parsedText } from '../support/xml';
import { CALLS, CLIENTS, EXTENDED, TEXT, type Check, type Client } from './clients';
import { AWAITED, SMALL_EVENTS, startLane, type Lane } from './lane';
import { missingFor, runClient, type Transcript } from './toolchain';

/** How many clients are made and run at the same time; the compilers among them want a core each. */
const SIDE_BY_SIDE = 2;

/** The largest message that a WCF client accepts by default, in bytes. */
const WCF_LIMIT = 65_536;

const plan = CLIENTS.map((client) => ({ client, missing: missingFor(client) }));
const transcripts = new Map<Client, Transcript>();
const passed = new Set<string>();
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let lanes: Lane[] = [];

beforeAll(async () => {
  folder = await temporaryFolder();
  const numbers = Array.from({ length: SIDE_BY_SIDE }, (_, i) => String(i + 1));
  lanes = await Promise.all(numbers.map((number) => startLane(join(folder.path, `lane${number}`))));
  const waiting = plan.filter(({ missing }) => missing === undefined).map(({ client }) => client);
  const work = async ({ url }: Lane): Promise<void> => {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) {
      transcripts.set(client, await runClient(client, url, join(folder.path, client.folder)));
    }
  };
  await Promise.all(lanes.map(work));
}, 600_000);

afterAll(async () => {
  process.stdout.write(`\n${table()}\n\nThe note over SOAP 1.1, as each client found it:\n${notes()}\n\n`);
  await Promise.all(lanes.map((lane) => lane.stop())).finally(() => folder.remove());
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
    expect(noteOf(listed(value, binding, transcript))).toBe(client.text ?? TEXT);
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
  note: (value, binding, _transcript, client) => {
    const [event, ...others] = eventsOf(value);
    expect(others).toEqual([]);
    expect(event?.binding).toBe(binding);
    expect(event && noteOf(event)).toBe(client.text ?? TEXT);
  },
  paging: (value) => {
    const pages = value.split('\t').map(eventsOf);
    const events = pages.flat();
    expect(events.map(({ sequence }) => Number(sequence))).toEqual(events.map((_, i) => i + 1));
    const small = Array.from({ length: SMALL_EVENTS }, (_, i) => `small-${String(i)}`);
    expect(events.slice(0, SMALL_EVENTS).map(({ id }) => id)).toEqual(small);
    // The third page ends early, at the large events: an answer is never more than 60,000 bytes.
    expect(pages.slice(0, 2).map(({ length }) => length)).toEqual([100, 100]);
    expect(pages[2]?.length).toBeGreaterThan(SMALL_EVENTS - 200);
    expect(pages[2]?.length).toBeLessThan(100);
  },
  waiting: (value) => {
    expect(eventsOf(value)).toEqual([expect.objectContaining({ data: AWAITED })]);
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

/** The text of the note that an event holds: as XML, or as a field of a query or a form. */
function noteOf({ data }: CloudEvent): string {
  return typeof data === 'string' ? parsedText(data) : (data as { note: string }).note;
}

function table(): string {
  const rows = plan.map(({ client, missing }) => [
    client.name,
    missing === undefined ? (transcripts.get(client)?.version ?? '') : `missing: ${missing}`,
    ...BINDINGS.map((binding) => bindingCell(client, binding, missing !== undefined)),
    ...EXTENDED.map((check) => extendedCell(client, check, missing !== undefined)),
  ]);
  const titles = ['client', 'version', ...BINDINGS, ...EXTENDED];
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function bindingCell(client: Client, binding: BindingName, skipped: boolean): string {
  const checks = client.checks[binding]?.filter((check) => !EXTENDED.includes(check));
  if (checks === undefined) return '–';
  if (skipped) return 'skipped';
  const failed = checks.filter((check) => !hasPassed(client, binding, check));
  if (failed.length > 0) return `FAILED: ${failed.join(', ')}`;
  return ['passed', ...checks.filter((check) => !CALLS.includes(check))].join(', ');
}

function extendedCell(client: Client, check: Check, skipped: boolean): string {
  if (client.noExtended !== undefined) return check === 'note' ? client.noExtended : '–';
  if (skipped) return 'skipped';
  const bindings = BINDINGS.filter((binding) => client.checks[binding]?.includes(check));
  const failed = bindings.filter((binding) => !hasPassed(client, binding, check));
  return failed.length > 0 ? `FAILED: ${failed.join(', ')}` : bindings.join(', ');
}

function hasPassed(client: Client, binding: BindingName, check: Check): boolean {
  return passed.has(`${client.name} ${binding} ${check}`);
}

function notes(): string {
  return [...transcripts]
    .map(([{ name }, { values }]) => [name, values.get('soap11 note')])
    .filter(([, note]) => note !== undefined)
    .map(([name, note]) => `${name ?? ''}: ${note ?? ''}`)
    .join('\n');
}
