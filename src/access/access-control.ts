import type { Config } from '../config/config';
import type { Callers } from '../http/callers';
import { HTTP_ERRORS, type RequestError } from '../http/errors';
import { Sender } from '../senders/sender';
import { Caller, type Access, type GuardedRequest } from './caller';
import { keyCheck, withoutName } from './keys';
import { hostChecks, otherSites, viewerCheck, type LocalConfig, type OtherSite } from './local-callers';

/** Shows that a caller may make a call: a key, or the signature of a message. */
type Credential = 'key' | 'signature';

/** What the settings say of who may call. */
export type AccessRules = ReturnType<typeof rulesOf>;

function rulesOf(config: LocalConfig, otherSite: OtherSite) {
  const { recordKeys, readKeys, ...secrets } = config.access;
  const signatures = Sender.signaturesFor(secrets);
  const hasKeys = (recordKeys ?? readKeys) !== undefined;
  const hasSecrets = Object.values(secrets).some((secret) => secret !== undefined);
  const anyKey = keyCheck([...(recordKeys ?? []), ...(readKeys ?? [])]);
  return {
    hasKeys,
    hasSecrets,
    /** Whether callers have to prove something, if only by a certificate. */
    isGuarded: hasKeys || hasSecrets || config.tls?.clientCa !== undefined,
    /** Whether an access needs a proof. */
    guards: { open: false, record: recordKeys !== undefined || hasSecrets, read: readKeys !== undefined },
    /** The name of a key that opens an access, empty if it has none; undefined for any other key. */
    nameOf: { open: anyKey, any: anyKey, record: keyCheck(recordKeys ?? []), read: keyCheck(readKeys ?? []) },
    signatures,
    otherSite,
    ...hostChecks(config),
    checkLocalViewer: viewerCheck(config),
    credentials: {
      open: [],
      record: [...(recordKeys ? ['key' as const] : []), ...(hasSecrets ? ['signature' as const] : [])],
      read: readKeys ? ['key' as const] : [],
    } satisfies Record<Access, Credential[]>,
    /** Says which proof of an access is missing. @param hasKey - whether a key was shown that does not open it. */
    missing(needs: Access, hasKey: boolean): RequestError {
      const what = needs === 'record' ? 'RecordEvent' : 'Reading events';
      const signed =
        needs === 'record' && hasSecrets ? `the signature of its sender in ${listOf(signatures.fields)}` : '';
      if (needs === 'record' && recordKeys === undefined)
        return HTTP_ERRORS.signature(`${what} needs a POST with ${signed}.`);
      if (hasKey) return HTTP_ERRORS.key(`This key may not ${needs} events.`);
      return HTTP_ERRORS.key(`${what} needs a ${needs} key${signed === '' ? '' : ` or ${signed}`}.`);
    },
  };
}

function listOf(names: readonly string[]): string {
  return names.join(', ').replace(/, ([^,]*)$/, ' or $1');
}

/** Decides who may call, and who may look at the pages of the events. */
export class AccessControl {
  rules: AccessRules;
  readonly #otherSite: OtherSite;

  constructor(config: LocalConfig, callers: Pick<Callers, 'baseUrl'>) {
    this.#otherSite = otherSites(callers);
    this.rules = rulesOf(config, this.#otherSite);
  }

  use(config: LocalConfig): void {
    this.rules = rulesOf(config, this.#otherSite);
  }

  /** The credentials for each access. Any one is enough; an empty list means that none is needed. */
  get credentials(): Readonly<Record<Access, readonly Credential[]>> {
    return this.rules.credentials;
  }

  caller(request: GuardedRequest): Caller {
    return new Caller(request, this);
  }

  /** Lets a request read events or metrics that no operation returns; throws as for an operation that reads. */
  checkReader(request: GuardedRequest): void {
    this.caller(request).require('read');
  }

  /** Lets a request ask for the pages of the operator's own address, of which only what it was made for keeps others out. */
  readonly checkOperator = (request: GuardedRequest): void => {
    const shownBy = this.#otherSite(request);
    if (shownBy !== undefined) throw HTTP_ERRORS.otherSite(shownBy);
    this.rules.checkName(request);
  };

  /** Lets a request look at the pages of the events, which show more than `GetEvents`: without READ_KEYS only from this machine. */
  checkViewer(request: GuardedRequest): void {
    if (this.#otherSite(request) !== undefined) throw HTTP_ERRORS.otherSiteLink();
    if (this.rules.guards.read) this.checkReader(request);
    else this.rules.checkLocalViewer(request);
  }
}

/** The values of the settings that are secret, without the names of keys. */
export function secretsIn({ access, forwardSecrets = [] }: Pick<Config, 'access' | 'forwardSecrets'>): string[] {
  const { recordKeys = [], readKeys = [], ...secrets } = access;
  return [
    ...[...recordKeys, ...readKeys].map(withoutName),
    ...[...Object.values(secrets), forwardSecrets].flatMap((values) => values ?? []),
  ];
}
