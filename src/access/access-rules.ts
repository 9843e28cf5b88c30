import type { Config } from '../config/config';
import { HTTP_ERRORS, type RequestError } from '../http/errors';
import { Sender } from '../senders/sender';
import { keyCheck, withoutName } from './keys';
import { hostChecks, viewerCheck, type LocalConfig, type OtherSite } from './local-callers';

/** The access that an operation needs: none, a key or a signature to record, or a key to read. */
export type Access = 'open' | 'record' | 'read';

/** Shows that a caller may make a call: a key, or the signature of a message. */
type Credential = 'key' | 'signature';

/** What the settings say of who may call. */
export type AccessRules = ReturnType<typeof rulesOf>;

export function rulesOf(config: LocalConfig, otherSite: OtherSite) {
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
    } as Readonly<Record<Access, readonly Credential[]>>,
    /** Says which proof of an access is missing. @param hasKey - whether a key was shown that does not open it. */
    missing(needs: Access, hasKey: boolean): RequestError {
      const what = needs === 'record' ? 'RecordEvent' : 'Reading events';
      const signed =
        needs === 'record' && hasSecrets
          ? `a POST with the signature of its sender in ${listOf(signatures.fields)}`
          : '';
      if (needs === 'record' && recordKeys === undefined) return HTTP_ERRORS.signature(`${what} needs ${signed}.`);
      if (hasKey) return HTTP_ERRORS.key(`This key may not ${needs} events.`);
      return HTTP_ERRORS.key(`${what} needs a ${needs} key${signed === '' ? '' : ` or ${signed}`}.`);
    },
  };
}

function listOf(names: readonly string[]): string {
  return names.join(', ').replace(/, ([^,]*)$/, ' or $1');
}

/** The values of the settings that are secret, without the names of keys. */
export function secretsIn({ access, forwardSecrets = [] }: Pick<Config, 'access' | 'forwardSecrets'>): string[] {
  const { recordKeys = [], readKeys = [], ...secrets } = access;
  return [
    ...[...recordKeys, ...readKeys].map(withoutName),
    ...[...Object.values(secrets), forwardSecrets].flatMap((values) => values ?? []),
  ];
}
