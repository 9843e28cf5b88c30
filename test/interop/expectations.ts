import { eventsOf, type BindingName, type CloudEvent } from '../support/bindings';
import { parsedText } from '../support/xml';
import { TEXT, type Check, type Client } from './clients';
import type { Transcript } from './toolchain';

/** The largest message that a WCF client accepts by default, in bytes. */
const WCF_LIMIT = 65_536;

/**
 * Expects that a client has passed a check over a binding.
 *
 * @param transcript - what it printed, if it was run.
 * @param unknownAction - the SOAP action of the operation `Unknown`.
 */
export function expectCheck(
  check: Check,
  binding: BindingName,
  client: Client,
  transcript: Transcript | undefined,
  unknownAction: string,
): void {
  const value = transcript?.values.get(`${binding} ${check}`);
  if (transcript === undefined || value === undefined)
    throw new Error(`it printed no "${binding} ${check}". ${transcript?.trouble ?? ''}`);
  EXPECTATIONS[check](value, binding, { client, transcript, unknownAction });
}

/** What a check is judged by. */
interface Run {
  readonly client: Client;
  readonly transcript: Transcript;
  /** The action of the operation `Unknown`. */
  readonly unknownAction: string;
}

type Expectation = (value: string, binding: BindingName, run: Run) => void;

const EXPECTATIONS: Readonly<Record<Check, Expectation>> = {
  HelloWorld: (value) => {
    expect(value).toBe('Hello World');
  },
  RecordEvent: (value, binding, { transcript }) => {
    expect(listed(value, binding, transcript).binding).toBe(binding);
  },
  payload: (value, binding, { transcript, client }) => {
    expect(noteOf(listed(value, binding, transcript))).toBe(client.text ?? TEXT);
  },
  GetEvents: (value) => {
    expect(eventsOf(value).length).toBeGreaterThan(10);
  },
  fault: (value, binding, { unknownAction }) => {
    const [type, message] = FAULTS[binding];
    expect(value).toMatch(type);
    expect(value.replace(unknownAction, 'ACTION')).toMatch(message);
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
const FAULTS: Readonly<Record<BindingName, readonly [type: RegExp, message: RegExp]>> = {
  soap11: [/^\w\S* Client: /, /Server did not recognize the value of HTTP Header SOAPAction: ACTION\./],
  soap12: [/^\w\S* Sender: /, /(The action 'ACTION' was not recognized|without a valid action parameter)\./],
  httpget: [/^500 /, /^500 Unknown Web Service method name is not valid\.$/],
  httppost: [/^500 /, /^500 Unknown Web Service method name is not valid\.$/],
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
