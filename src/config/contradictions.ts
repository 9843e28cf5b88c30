import type { Problem, Settings } from './variable';
import { VARIABLES } from './variables';

/** Finds the settings that are valid alone but not together. */
export function contradictions({
  host,
  port,
  admin,
  tls,
  limits,
  maxRequestBytes,
  protocols,
  webhookOrigins,
  access,
}: Settings<typeof VARIABLES>): Problem[] {
  const problems: Problem[] = [];
  if (tls.cert !== undefined && tls.key === undefined)
    problems.push({ variable: VARIABLES.tls.key, message: 'must be set together with TLS_CERT' });
  if (tls.cert === undefined && (tls.key ?? tls.clientCa) !== undefined)
    problems.push({
      variable: VARIABLES.tls.cert,
      message: 'must be set together with TLS_KEY, and for TLS_CLIENT_CA',
    });
  if (webhookOrigins !== undefined && !protocols.has('httppost'))
    problems.push({ variable: VARIABLES.webhookOrigins, message: 'needs httppost in PROTOCOLS' });
  if (access.webhookSecrets !== undefined && protocols.size === 1 && protocols.has('httpget'))
    problems.push({
      variable: VARIABLES.access.webhookSecrets,
      message: 'needs a protocol with a body that can be signed: soap11, soap12 or httppost in PROTOCOLS',
    });
  if (limits.headersTimeout > limits.requestTimeout)
    problems.push({ variable: VARIABLES.limits.headersTimeout, message: 'must not be longer than REQUEST_TIMEOUT' });
  if (limits.maxBodyMemory !== undefined && limits.maxBodyMemory < maxRequestBytes)
    problems.push({ variable: VARIABLES.limits.maxBodyMemory, message: 'must not be less than MAX_REQUEST_BYTES' });
  if (port !== 0 && port === admin.port && (host === admin.host || [host, admin.host].some(isEveryAddress)))
    problems.push({ variable: VARIABLES.admin.port, message: 'must not be the same as PORT' });
  return problems;
}

function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
