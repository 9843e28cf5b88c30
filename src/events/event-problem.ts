import { bytesOf, parseJsonObject } from './cloudevents/cloud-event-json';
import type { StoredEvent } from './stored-event';

/** The attributes that every CloudEvent has (CloudEvents 1.0, section 3.1), and what must stand in them. */
const REQUIRED: ReadonlyMap<string, (value: string, event: StoredEvent) => boolean> = new Map([
  ['specversion', (value: string) => value === '1.0'],
  ['id', (value: string, { id }: StoredEvent) => value === id],
  ['source', (value: string, { source }: StoredEvent) => value === source],
  ['type', (value: string) => value !== ''],
]);

const ATTRIBUTE_TYPES: readonly string[] = ['string', 'number', 'boolean'];
const DATA_MEMBERS: readonly string[] = ['data', 'data_base64'];

/** Says what keeps a stored event from being read as a CloudEvent, if anything does. */
export function eventProblem(event: StoredEvent): string | undefined {
  return attributesProblem(event) ?? dataProblem(event.data) ?? arrivalProblem(event);
}

function attributesProblem(event: StoredEvent): string | undefined {
  const attributes = event.damaged === 'attributes' ? undefined : objectIn(event.attributes);
  if (attributes === undefined) return 'its attributes are not a JSON object';
  for (const [name, isRight] of REQUIRED) {
    const value = attributes[name];
    if (value === undefined) return `its attribute ${name} is missing`;
    if (typeof value !== 'string' || !isRight(value, event))
      return `its attribute ${name} is not the one that it must be`;
  }
  const nested = Object.keys(attributes).find((name) => !ATTRIBUTE_TYPES.includes(typeof attributes[name]));
  return nested === undefined ? undefined : 'one of its attributes is not a string, a number or a boolean';
}

function dataProblem(data: string | undefined): string | undefined {
  if (data === undefined) return undefined;
  const members = objectIn(`{${data}}`);
  const [name = '', another] = Object.keys(members ?? {});
  if (members === undefined || !DATA_MEMBERS.includes(name) || another !== undefined)
    return 'its data is not valid JSON';
  try {
    bytesOf(undefined, members.data_base64);
  } catch {
    return 'its data is not valid base64';
  }
  return undefined;
}

function arrivalProblem({ arrival, damaged }: StoredEvent): string | undefined {
  const isRight = damaged !== 'arrival' && objectIn(arrival) !== undefined;
  return isRight ? undefined : 'its arrival is not a JSON object';
}

function objectIn(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return parseJsonObject(json);
  } catch {
    return undefined;
  }
}
