import { appendFile, readFile } from 'node:fs/promises';
import { Binding } from '../../config/values';
import { EnvFile } from '../../config/environment';
import { VARIABLES } from '../../config/variables';
import { fileError, quoted } from '../terminal';
import type { Wsdl } from './wsdl';

/** How the path of the endpoint ends after the root; IIS does not look at the case. */
const PATH = /^(.*)\/([^/]+)\/Services\/WebHooks\.asmx$/i;

/** The settings with which the new service takes the place of an old one. */
export interface Replacement {
  /** Lines of an `.env` file. What has no setting, or is a choice, is said in comments. */
  readonly lines: readonly string[];
  /** Whether these settings are enough: the new service can have the namespace, the path and a protocol of the old one. */
  readonly isComplete: boolean;
}

/** Finds the settings with which the new service takes the place of the one with this WSDL. */
export function settingsFor(wsdl: Wsdl): Replacement {
  const parts = [namespaceLines(wsdl.targetNamespace), addressLines(wsdl), protocolLines(wsdl)];
  return {
    lines: parts.flatMap(({ lines }) => lines),
    isComplete: parts.every(({ isComplete }) => isComplete),
  };
}

/**
 * Adds settings to an `.env` file, which need not exist. What the file has stays as it is.
 *
 * @returns the lines that were added, and a sentence for each setting that the file already has with another value.
 * @throws the file is not a valid `.env` file, or cannot be written; then it is unchanged.
 */
export async function addSettings(
  file: string,
  lines: readonly string[],
): Promise<{ readonly added: readonly string[]; readonly conflicts: readonly string[] }> {
  const there = EnvFile.read(file);
  const wanted = Object.entries(new EnvFile(file, lines.join('\n')).texts);
  const conflicts = wanted
    .filter(([name, text]) => there.has(name) && there.texts[name] !== text)
    .map(([name, text]) => `${there.placeOf(name)}, keeps its ${name}. The old service needs ${name}=${quoted(text)}.`);
  const before = await readFile(file, 'utf8').catch(() => '');
  const added = lines.filter((line) => !there.has(line.replace(/=.*/s, '')) && !before.includes(line));
  if (added.length === 0) return { added, conflicts };
  try {
    const separator = before === '' || before.endsWith('\n') ? '' : '\n';
    await appendFile(file, `${separator}${added.join('\n')}\n`);
  } catch (error) {
    throw fileError(file, 'written', error);
  }
  return { added, conflicts };
}

function namespaceLines(targetNamespace: string): Replacement {
  if (VARIABLES.namespace.accepts(targetNamespace)) return complete(entry('SERVICE_NAMESPACE', targetNamespace));
  const problem = `${quoted(targetNamespace)} is the namespace of the old service, which`;
  return incomplete(`# ${problem} cannot be set as SERVICE_NAMESPACE.`);
}

function addressLines({ address = '' }: Wsdl): Replacement {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const [, prefix = '', root = ''] = PATH.exec(url?.pathname ?? '') ?? [];
  if (url === undefined || !VARIABLES.serviceRoot.accepts(root)) {
    const path =
      'The path of this service is /SERVICE_ROOT/Services/WebHooks.asmx: let the proxy in front map the old one to it.';
    return incomplete(`# The old address is ${quoted(address) || 'not in the WSDL'}. ${path}`);
  }
  const base = url.origin + prefix;
  const later = ['# Once callers reach the new service under the old address:', `# ${entry('BASE_URL', base)}`];
  return complete(entry('SERVICE_ROOT', root), ...(VARIABLES.baseUrl.accepts(base) ? later : []));
}

/**
 * The bindings for which the old service has ports. Whether it has HTTP POST a WSDL does not always tell, so the setting leaves
 * that on.
 */
function protocolLines({ protocols }: Wsdl): Replacement {
  const shown = Binding.all.filter((binding) => protocols.includes(Binding.names[binding]));
  if (shown.length === 0)
    return incomplete('# The old WSDL has no port for SOAP, HTTP GET or HTTP POST: set PROTOCOLS yourself.');
  const on = Binding.all.filter((binding) => binding === 'httppost' || shown.includes(binding));
  const lines = on.length < Binding.all.length ? [entry('PROTOCOLS', on.join())] : [];
  if (shown.includes('httppost')) return complete(...lines);
  return complete(
    ...lines,
    '# The old WSDL has no port for HTTP POST. ASP.NET offers HTTP POST to its own machine by default, and hides that port from',
    '# others. If your web.config removes it too, uncomment:',
    `# ${entry('PROTOCOLS', shown.join())}`,
  );
}

function complete(...lines: readonly string[]): Replacement {
  return { lines, isComplete: true };
}

function incomplete(...lines: readonly string[]): Replacement {
  return { lines, isComplete: false };
}

/** A line of an `.env` file. Without quotes `#` may begin a comment; no value can have a double quote in it. */
function entry(name: string, value: string): string {
  const quote = value.includes("'") ? '"' : "'";
  return `${name}=${value.includes('#') ? quote + value + quote : value}`;
}
