import { HTTP_ERRORS, type RequestError } from '../http/errors';
import { Sender } from '../senders/sender';
import { keyCheck } from './keys';
import { hostChecks, viewerCheck, type LocalConfig, type OtherSite } from './local-callers';

/** The access that an operation needs: none, a key or a signature to record, or a key to read. */
export type Access = 'open' | 'record' | 'read';

/** Shows that a caller may make a call: a key, or the signature of a message. */
type Credential = 'key' | 'signature';

/** Who may call, by the settings. */
export type AccessRules = ReturnType<typeof rulesOf>;

export function rulesOf(config: LocalConfig, otherSite: OtherSite) {
  const { recordKeys, readKeys, ...secrets } = config.access;
  const signatures = Sender.signaturesFor(secrets);
  const hasSecrets = Object.values(secrets).some((secret) => secret !== undefined);
  const guards = { open: false, record: recordKeys !== undefined || hasSecrets, read: readKeys !== undefined };
  const anyKey = keyCheck([...(recordKeys ?? []), ...(readKeys ?? [])]);
  return {
    /** Whether an access needs a proof. */
    guards,
    hasGuards: guards.record || guards.read,
    /** Whether callers must prove who they are, with a certificate at least. */
    isGuarded: guards.record || guards.read || config.tls?.clientCa !== undefined,
    /** The name of a key that opens an access, empty if it has none; undefined for any other key. */
    nameOf: {
      open: anyKey,
      record: guards.record ? keyCheck(recordKeys) : anyKey,
      read: guards.read ? keyCheck(readKeys) : anyKey,
    },
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
      const signed = `a POST with the signature of its sender in ${signatures.fields.join(' or ')}`;
      if (needs === 'record' && recordKeys === undefined) return HTTP_ERRORS.signature(`RecordEvent needs ${signed}.`);
      if (hasKey) return HTTP_ERRORS.key(`This key may not ${needs} events.`);
      if (needs === 'read') return HTTP_ERRORS.key('Reading events needs a read key.');
      return HTTP_ERRORS.key(`RecordEvent needs a record key${hasSecrets ? ` or ${signed}` : ''}.`);
    },
  };
}
