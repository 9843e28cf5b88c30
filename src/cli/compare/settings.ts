import { baseUrl, namespace, pathSegment } from '../../config/values';
import { isValue } from '../../config/variable';
import { quoted } from '../quoted';
import type { Wsdl } from './wsdl/wsdl';

/** How the path of the endpoint ends after the root; IIS does not look at the case. */
const PATH = /^(.*)\/([^/]+)\/Services\/WebHooks\.asmx$/i;

/**
 * The settings with which the new service takes the place of the one with this WSDL, as lines of an `.env` file. What cannot be
 * set is said in comments.
 */
export function settingsFor(wsdl: Wsdl): string[] {
  return [...namespaceLines(wsdl.targetNamespace), ...addressLines(wsdl)];
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

/** A line of an `.env` file. Without quotes `#` may begin a comment; neither value can have a double quote in it. */
function entry(name: string, value: string): string {
  const quote = value.includes("'") ? '"' : "'";
  return `${name}=${value.includes('#') ? quote + value + quote : value}`;
}
