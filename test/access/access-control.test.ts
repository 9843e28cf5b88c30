import { createHmac } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Access } from '../../src/access/credentials';
import { readConfig, type Config } from '../../src/config/config';
import { AccessControl, type GuardedCall } from '../../src/access/access-control';
import { Callers } from '../../src/http/callers';
import { RequestError } from '../../src/http/errors';

type Credentials = Pick<GuardedCall, 'password' | 'passwordProblem'> & { readonly body?: Buffer };

const BODY = Buffer.from('{"a":1}');
const SECRET = 'a secret of GitHub';
const signed = (body: Buffer) => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
});
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

describe('after the body', () => {
  const problemOf = (
    needed: Access,
    headers: Record<string, string>,
    credentials: Credentials = {},
    given: Given = GUARDED,
    method = 'POST',
  ) =>
    refusalOf(() => {
      const { body = Buffer.alloc(0), ...passwords } = credentials;
      const call = { request: requestWith(headers, method), needs: needed, hasEnvelope: true, ...passwords };
      controlOf(given).afterBody(call, body);
    });

  it.each<{
    readonly what: string;
    readonly needed: Access;
    readonly headers: Record<string, string>;
    readonly credentials: Credentials;
  }>([
    { what: 'what is open', needed: 'open', headers: {}, credentials: {} },
    { what: 'a key to record', needed: 'record', headers: key('record-key'), credentials: {} },
    { what: 'a key to read', needed: 'read', headers: key('read-key'), credentials: {} },
    { what: 'a password', needed: 'record', headers: {}, credentials: { password: 'record-key' } },
    {
      what: 'a valid password beside a key that is not',
      needed: 'record',
      headers: key('wrong'),
      credentials: { password: 'record-key' },
    },
    {
      what: 'a valid key beside a password with a problem',
      needed: 'record',
      headers: key('record-key'),
      credentials: { passwordProblem: 'Expired.' },
    },
    { what: 'a signature', needed: 'record', headers: signed(BODY), credentials: { body: BODY } },
    {
      what: 'a page of this service',
      needed: 'record',
      headers: { ...key('record-key'), 'sec-fetch-site': 'same-origin' },
      credentials: {},
    },
  ])('lets $what pass', ({ needed, headers, credentials }) => {
    expect(problemOf(needed, headers, credentials)).toBeUndefined();
  });

  it.each<{
    readonly what: string;
    readonly needed: Access;
    readonly headers: Record<string, string>;
    readonly credentials: Credentials;
    readonly message: string;
  }>([
    {
      what: 'no key to record',
      needed: 'record',
      headers: {},
      credentials: {},
      message: 'RecordEvent needs a record key.',
    },
    {
      what: 'no key to read',
      needed: 'read',
      headers: {},
      credentials: {},
      message: 'Reading events needs a read key.',
    },
    {
      what: 'a wrong key',
      needed: 'record',
      headers: key('wrong'),
      credentials: {},
      message: 'This key may not record events.',
    },
    {
      what: 'the key to read',
      needed: 'record',
      headers: key('read-key'),
      credentials: {},
      message: 'This key may not record events.',
    },
    {
      what: 'the key to record',
      needed: 'read',
      headers: key('record-key'),
      credentials: {},
      message: 'This key may not read events.',
    },
    {
      what: 'a wrong password',
      needed: 'record',
      headers: {},
      credentials: { password: 'wrong' },
      message: 'This key may not record events.',
    },
    {
      what: 'a problem of the password',
      needed: 'record',
      headers: key('wrong'),
      credentials: { passwordProblem: 'Expired.' },
      message: 'Expired.',
    },
    {
      what: 'a signature in place of a key to read',
      needed: 'read',
      headers: signed(BODY),
      credentials: { body: BODY },
      message: 'Reading events needs a read key.',
    },
  ])('refuses $what', ({ needed, headers, credentials, message }) => {
    expect(problemOf(needed, headers, credentials)).toEqual(keyRefusal(message));
  });

  it('refuses a signature of nothing', () => {
    expect(problemOf('record', signed(BODY))?.message).toBe('A signature counts for a body, and there is none.');
  });

  it('refuses a wrong signature even beside a valid key', () => {
    expect(problemOf('record', { ...signed(BODY), ...key('record-key') }, { body: Buffer.from('{"a":2}') })).toEqual({
      status: 401,
      message: 'The X-Hub-Signature-256 is not valid for this body.',
      refusal: 'signature',
      headers: CHALLENGE,
    });
  });

  it('ignores the signature of a request that is not a POST', () => {
    expect(problemOf('record', signed(BODY), { body: BODY }, GUARDED, 'GET')).toEqual(
      keyRefusal('RecordEvent needs a record key.'),
    );
  });

  it.each(['cross-site', 'same-site'])('refuses a page that is %s, with a key and what is open', (site) => {
    for (const needed of ['open', 'record', 'read'] as const) {
      expect(problemOf(needed, { ...key('record-key'), 'sec-fetch-site': site })).toEqual({
        status: 403,
        message: 'A page of another site may not call operations (Sec-Fetch-Site).',
        refusal: 'cross-site',
        headers: undefined,
      });
    }
  });

  it.each([
    ['recordKeys', 'record'],
    ['readKeys', 'read'],
    ['webhookSecrets', 'record'],
  ] as const)('with %s alone guards %s', (setting, guarded) => {
    const given = { [setting]: GUARDED[setting] };
    const isGuarded = (needs: Access) => problemOf(needs, {}, {}, given) !== undefined;
    expect((['open', 'record', 'read'] as const).filter(isGuarded)).toEqual([guarded]);
  });
});

describe('before the body', () => {
  const limitOf = (
    needed: Access | undefined,
    headers: Record<string, string>,
    given: Given = GUARDED,
    method = 'POST',
    hasEnvelope = true,
  ) => controlOf(given).beforeBody({ request: requestWith(headers, method), needs: needed, hasEnvelope });

  it.each<[string, Access | undefined, Record<string, string>]>([
    ['what is open, with a key to record', 'open', key('record-key')],
    ['what is open, with a key to read', 'open', key('read-key')],
    ['a valid key to record', 'record', key('record-key')],
    ['a valid key to read', 'read', key('read-key')],
    ['a key to record, for an operation that is not known yet', undefined, key('record-key')],
    ['a signature', 'record', signed(BODY)],
    ['a signature, for an operation that is not known yet', undefined, signed(BODY)],
  ])('has no limit for %s', (_what, needed, headers) => {
    expect(limitOf(needed, headers)).toBeUndefined();
  });

  it.each<[string, Access | undefined, Record<string, string>]>([
    ['what is open', 'open', {}],
    ['what is open, with a wrong key', 'open', key('wrong')],
    ['what is open, with a signature', 'open', signed(BODY)],
    ['no key', 'record', {}],
    ['no key, for an operation that is not known yet', undefined, {}],
    ['a key to read, for an operation that is not known yet', undefined, key('read-key')],
    ['a signature in place of a key to read', 'read', signed(BODY)],
  ])('limits the body for %s', (_what, needed, headers) => {
    const limit = limitOf(needed, headers);
    expect(limit?.maxBytes).toBe(262_144);
    expect(limit?.refusal()).toMatchObject({
      status: 401,
      message:
        'A message of more than 262144 bytes needs a valid key in its header fields. ' +
        'Send it as Authorization: Bearer, as the password of Authorization: Basic, or as X-API-Key.',
      refusal: 'key',
      headers: CHALLENGE,
    });
  });

  it('refuses a key that is not valid for a known operation', () => {
    expect(refusalOf(() => limitOf('record', key('wrong')))).toEqual(keyRefusal('This key may not record events.'));
    expect(refusalOf(() => limitOf('read', key('record-key')))).toEqual(keyRefusal('This key may not read events.'));
  });

  it('refuses a page of another site', () => {
    expect(refusalOf(() => limitOf('open', { 'sec-fetch-site': 'cross-site' }))).toMatchObject({ status: 403 });
  });

  it('does not count the signature of a request that is not a POST', () => {
    expect(limitOf('record', signed(BODY), GUARDED, 'GET')).toBeDefined();
  });

  it('refuses a call without a key where the message can hold none', () => {
    expect(refusalOf(() => limitOf('record', {}, GUARDED, 'POST', false))).toEqual(
      keyRefusal('RecordEvent needs a record key.'),
    );
    expect(limitOf('record', signed(BODY), GUARDED, 'POST', false)).toBeUndefined();
    expect(limitOf('open', {}, GUARDED, 'POST', false)).toBeDefined();
  });

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

  it('another name is refused where an operation records or reads, and not where it is open', () => {
    expect(refused('record', {})).toBe(403);
    expect(refused('read', {})).toBe(403);
    expect(refused('open', {})).toBeUndefined();
    expect(refused('record', {}, { host: 'localhost' })).toBeUndefined();
  });

  it('another name is taken where the operation needs a key', () => {
    expect(refused('record', GUARDED, key('record-key'))).toBeUndefined();
    expect(refused('read', { recordKeys: ['record-key'] })).toBe(403);
  });

  it('open operations are for pages of other sites, too', () => {
    expect(refused('open', {}, { 'sec-fetch-site': 'cross-site' })).toBeUndefined();
    const request = requestWith({ 'sec-fetch-site': 'cross-site' });
    expect(controlOf({}, '127.0.0.1').beforeBody({ request, needs: 'open', hasEnvelope: true })).toBeUndefined();
  });

  it('no credential is needed', () => {
    expect(controlOf({}, '127.0.0.1').credentials).toEqual({ open: [], record: [], read: [] });
  });
});
