import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Access } from '../../src/access/credentials';
import { readConfig, type Config } from '../../src/config/config';
import { AccessControl } from '../../src/access/access-control';
import { Callers } from '../../src/http/callers';
import { RequestError } from '../../src/http/errors';

const BODY = Buffer.from('{"a":1}');
const SECRET = 'a secret of GitHub';
const key = (text: string) => ({ 'x-api-key': text });

const CHALLENGE = { 'WWW-Authenticate': ['Basic realm="WebHook", charset="UTF-8"', 'Bearer realm="WebHook"'] };
const HOW =
  'Send it as Authorization: Bearer, as the password of Authorization: Basic, as X-API-Key, or over SOAP as a WS-Security UsernameToken.';

function requestWith(headers: Record<string, string>, method = 'POST'): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  return Object.assign(request, { method, headers });
}

type Given = Partial<Config['access']>;
const callers = new Callers({ baseUrl: undefined, trustProxy: 0 });
/** The access control of a service that others reach or, on a loopback address, this machine alone. */
const controlOf = (given: Given, host = '0.0.0.0') =>
  new AccessControl(
    { host, baseUrl: undefined, trustProxy: 0, allowedHosts: undefined, access: { ...NOTHING, ...given } },
    callers,
  );
const NOTHING = readConfig({}).access;

/** What a refusal says, if there was one. */
function refusalOf(run: () => unknown): Pick<RequestError, 'status' | 'message' | 'refusal' | 'headers'> | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { status, message, refusal, headers } = error;
    return { status, message, refusal, headers };
  }
}

const keyRefusal = (message: string) => ({
  status: 401,
  message: `${message} ${HOW}`,
  refusal: 'key',
  headers: CHALLENGE,
});

const GUARDED = { recordKeys: ['record-key'], readKeys: ['read-key'], webhookSecrets: [SECRET] };

it('nothing is refused where nothing is set and others reach the service', () => {
  const request = requestWith({ host: 'evil.example', 'sec-fetch-site': 'cross-site' });
  for (const needs of ['open', 'record', 'read'] as const) {
    const call = { request, needs, hasEnvelope: true };
    expect(controlOf({}).beforeBody(call)).toBeUndefined();
    expect(controlOf({}).afterBody(call, BODY)).toBeUndefined();
  }
});

it.each<[Given, Readonly<Record<Access, readonly string[]>>]>([
  [GUARDED, { open: [], record: ['key', 'signature'], read: ['key'] }],
  [{ recordKeys: ['record-key'] }, { open: [], record: ['key'], read: [] }],
  [{ readKeys: ['read-key'] }, { open: [], record: [], read: ['key'] }],
  [{ webhookSecrets: [SECRET] }, { open: [], record: ['signature'], read: [] }],
])('it lists the credentials for each access (%#)', (given, expected) => {
  const control = controlOf(given);
  expect(control.credentials).toEqual(expected);
});

describe('before the body', () => {
  const limitOf = (
    needed: Access | undefined,
    headers: Record<string, string>,
    given: Given = GUARDED,
    method = 'POST',
    hasEnvelope = true,
  ) => controlOf(given).beforeBody({ request: requestWith(headers, method), needs: needed, hasEnvelope });

  it('limits a body to read where recording alone needs a key', () => {
    const given = { recordKeys: ['record-key'] };
    expect(limitOf('read', {}, given)).toBeDefined();
    expect(limitOf('read', key('wrong'), given)).toBeDefined();
    expect(limitOf('read', key('record-key'), given)).toBeUndefined();
  });

  it('has no limit where recording needs no key', () => {
    expect(limitOf('record', {}, { readKeys: ['read-key'] })).toBeUndefined();
    expect(limitOf(undefined, {}, { readKeys: ['read-key'] })).toBeUndefined();
  });
});

it('what is invoked and is no operation of the service needs the access that guards most', () => {
  const call = { request: requestWith({}), needs: undefined, hasEnvelope: true };
  expect(refusalOf(() => controlOf(GUARDED).afterBody(call, BODY))).toEqual(
    keyRefusal('RecordEvent needs a record key.'),
  );
});

describe('where only this machine reaches the service', () => {
  const refused = (needs: Access, given: Given, headers = {}) => {
    const call = { request: requestWith({ host: 'evil.example', ...headers }), needs, hasEnvelope: true };
    return refusalOf(() => controlOf(given, '127.0.0.1').afterBody(call, BODY))?.status;
  };

  it('another name is taken where the operation needs a key', () => {
    expect(refused('record', GUARDED, key('record-key'))).toBeUndefined();
    expect(refused('read', { recordKeys: ['record-key'] })).toBe(403);
  });
});
