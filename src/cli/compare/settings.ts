import { BINDING_NAMES, BINDINGS } from '../../contract/offer';
import { baseUrl, namespace, pathSegment } from '../../config/values';
import { isValue } from '../../config/variable';
import { quoted } from '../terminal';
import type { Wsdl } from './wsdl';

/** How the path of the endpoint ends after the root; IIS does not look at the case. */
const PATH = /^(.*)\/([^/]+)\/Services\/WebHooks\.asmx$/i;

/**
 * The settings with which the new service takes the place of the one with this WSDL, as lines of an `.env` file. What cannot be
 * set is said in comments.
 */
export function settingsFor(wsdl: Wsdl): string[] {
  return [...namespaceLines(wsdl.targetNamespace), ...addressLines(wsdl), ...protocolLines(wsdl)];
}

function namespaceLines(targetNamespace: string): string[] {
  if (isValue(namespace, targetNamespace)) return [entry('SERVICE_NAMESPACE', targetNamespace)];
  const problem = `${quoted(targetNamespace)} is the namespace of the old service, which`;
  return [`# ${problem} cannot be set: SERVICE_NAMESPACE is an absolute URI that ends with a slash.`];
}

function addressLines({ ports }: Wsdl): string[] {
  const address = ports.find((port) => port.address !== undefined)?.address ?? '';
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const [, prefix = '', root = ''] = PATH.exec(url?.pathname ?? '') ?? [];
  if (url === undefined || !isValue(pathSegment, root)) {
    const path =
      'The path of this service is /SERVICE_ROOT/Services/WebHooks.asmx: let the proxy in front map the old one to it.';
    return [`# The old address is ${quoted(address) || 'not in the WSDL'}. ${path}`];
  }
  const base = url.origin + prefix;
  return [
    entry('SERVICE_ROOT', root),
    ...(isValue(baseUrl, base)
      ? ['# Once callers reach the new service under the old address:', `# ${entry('BASE_URL', base)}`]
      : []),
  ];
}

/**
 * The bindings for which the old service has ports. Whether it has HTTP POST a WSDL does not always tell, so the setting leaves
 * that on.
 */
function protocolLines({ protocols }: Wsdl): string[] {
  const shown = BINDINGS.filter((binding) => protocols.includes(BINDING_NAMES[binding]));
  if (shown.length === 0)
    return ['# The old WSDL has no port for SOAP, HTTP GET or HTTP POST: set PROTOCOLS yourself.'];
  const on = BINDINGS.filter((binding) => binding === 'httppost' || shown.includes(binding));
  const lines = on.length < BINDINGS.length ? [entry('PROTOCOLS', on.join())] : [];
  if (shown.includes('httppost')) return lines;
  return [
    ...lines,
    '# The old WSDL has no port for HTTP POST. Other machines never see that of HttpPostLocalhost; if it is off too:',
    `# ${entry('PROTOCOLS', shown.join())}`,
  ];
}

/** A line of an `.env` file. Without quotes `#` may begin a comment; no value can have a double quote in it. */
function entry(name: string, value: string): string {
  const quote = value.includes("'") ? '"' : "'";
  return `${name}=${value.includes('#') ? quote + value + quote : value}`;
}
