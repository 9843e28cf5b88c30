import { hash, timingSafeEqual } from 'node:crypto';
import type { Config } from '../config/config';
import type { Proxies } from '../http/proxies';
import { HTTP_ERRORS, type RequestError } from '../http/errors';
import type { HttpRequest } from '../http/request';
import { Sender } from '../senders/sender';
import { localChecks, openServiceWarnings, otherSites, type LocalConfig } from './local-callers';

/** The access that an operation needs: none, a key or a signature to record, or a key to read. */
export type Access = 'open' | 'record' | 'read';

/** A key that a request shows. */
export interface ShownKey {
  readonly digest: Buffer;
  /** `browser`: one adds it by itself, also to what a page of another site sends. `query`: it opens recording alone. */
  readonly from: 'caller' | 'browser' | 'query';
}

/** A shorter password stands in texts by chance, so it is not cut out of them. No key or secret is as short. */
const SHORTEST_CUT = 16;

/** Who may call, by the current settings. */
export class AccessControl {
  rules: ReturnType<typeof rulesOf>;

  constructor(config: LocalConfig, proxies: Pick<Proxies, 'baseUrl'>) {
    this.rules = rulesOf(config, otherSites(proxies));
  }

  /** The values of the settings that are secret, without the names of keys, to cut them out of texts. */
  static secretsIn(config: Pick<Config, 'access' | 'forwardSecrets' | 'eventLogServer'>): string[] {
    const { access, forwardSecrets, eventLogServer } = config;
    const { recordKeys = [], readKeys = [], ...secrets } = access;
    const keys = [...recordKeys, ...readKeys].map(withoutName);
    const { password = '' } = eventLogServer;
    const passwords = password.length < SHORTEST_CUT ? [] : [password];
    return [keys, ...Object.values(secrets), forwardSecrets, passwords].flatMap((values) => values ?? []);
  }

  static readonly warningsFor = openServiceWarnings;

  use(config: LocalConfig): void {
    this.rules = rulesOf(config, this.rules.otherSite);
  }

  /** Checks a request to the operator's address. It needs no key: only the address it listens on keeps callers out. */
  readonly checkOperator = (request: HttpRequest): void => {
    const sign = this.rules.otherSite(request);
    if (sign !== undefined) throw HTTP_ERRORS.otherSite(sign);
    this.rules.checkName(request);
  };
}

function rulesOf(config: LocalConfig, otherSite: ReturnType<typeof otherSites>) {
  const { recordKeys, readKeys, ...secrets } = config.access;
  const signatures = Sender.signaturesFor(secrets);
  const hasSecrets = Object.values(secrets).some((secret) => secret !== undefined);
  const guards = { open: false, record: recordKeys !== undefined || hasSecrets, read: readKeys !== undefined };
  const hasGuards = guards.record || guards.read;
  const keys = [...knownKeys('record', recordKeys), ...knownKeys('read', readKeys)];
  return {
    /** Whether an access needs a proof. */
    guards,
    hasGuards,
    /** Whether callers must prove who they are, with a certificate at least. */
    isGuarded: hasGuards || config.tls?.clientCa !== undefined,
    signatures,
    otherSite,
    ...localChecks(config),

    /** The credentials for each access. Any one is enough; an empty list means that none is needed. */
    credentials: {
      open: [],
      record: [...(recordKeys ? ['key'] : []), ...(hasSecrets ? ['signature'] : [])],
      read: readKeys ? ['key'] : [],
    } as Readonly<Record<Access, readonly ('key' | 'signature')[]>>,

    /** Finds the first key that opens an access; its name is empty if it has none. The time says nothing about a key. */
    keyFor(this: void, shown: readonly ShownKey[], needs: Access) {
      for (const { digest, from } of shown) {
        let name: string | undefined;
        for (const key of keys)
          if (timingSafeEqual(key.digest, digest) && (key.opens === needs || !guards[needs])) name = key.name;
        if (name !== undefined && (from !== 'query' || needs === 'record')) return { name, from };
      }
      return undefined;
    },

    /** Says which proof of an access is missing. @param hasKey - whether a key was shown that does not open it. */
    missing(this: void, needs: Access, hasKey: boolean): RequestError {
      const signed = `a POST with the signature of its sender in ${signatures.fields.join(' or ')}`;
      if (needs === 'record' && recordKeys === undefined) return HTTP_ERRORS.signature(`RecordEvent needs ${signed}.`);
      if (hasKey) return HTTP_ERRORS.key(`This key may not ${needs} events.`);
      if (needs === 'read') return HTTP_ERRORS.key('Reading events needs a read key.');
      return HTTP_ERRORS.key(`RecordEvent needs a record key${hasSecrets ? ` or ${signed}` : ''}.`);
    },
  };
}

/** Reads keys, each with or without a name and a space before it. */
function knownKeys(opens: Access, keys: readonly string[] = []) {
  return keys.map((text) => ({ opens, name: text.replace(/ *\S+$/, ''), digest: digestOf(withoutName(text)) }));
}

function withoutName(key: string): string {
  return key.replace(/^.* /, '');
}

export const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');
