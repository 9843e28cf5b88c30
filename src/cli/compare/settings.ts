import { appendFile, readFile } from 'node:fs/promises';
import { Binding } from '../../config/values';
import { EnvFile } from '../../config/environment';
import { VARIABLES } from '../../config/variables';
import type { Contract } from '../../contract/contract';
import { oneLine } from '../../util/text';
import { fileError } from '../terminal';
import type { Wsdl } from './wsdl';

/** How the path of the endpoint ends after the root; IIS does not look at the case. */
const PATH = /^(.*)\/([^/]+)\/Services\/WebHooks\.asmx$/i;

/**
 * Finds the settings with which the new service takes the place of the one with this WSDL, as lines of an `.env` file: what has no
 * setting, or is a choice, is said in comments. Complete: the new service can have the namespace, the path and a protocol of the old one,
 * and has its name and operations.
 */
export function settingsFor(old: Wsdl, contract: Pick<Contract, 'serviceName' | 'operations'>) {
  const { targetNamespace, address = '', protocols } = old;
  const settings = [namespaceLines(targetNamespace), addressLines(address), protocolLines(protocols)];
  const parts = [...settings, ...serviceLines(old, contract)];
  const problems = parts.filter(([first = '']) => first.startsWith(NOT_ENOUGH));
  return { lines: parts.flat(), isComplete: problems.length === 0 };
}

/** Begins the lines in place of a setting that the service cannot have. */
const NOT_ENOUGH = '# The old ';

/**
 * Adds settings to an `.env` file, which need not exist. What the file has stays as it is, also with another value: such a setting
 * has a sentence in `conflicts`.
 */
export async function addSettings(file: string, lines: readonly string[]) {
  const there = EnvFile.read(file);
  const wanted = Object.entries(new EnvFile(file, lines.join('\n')).texts);
  const conflicts = wanted
    .filter(([name, text]) => there.places.has(name) && there.texts[name] !== text)
    .map(([name, text]) => `${String(there.places.get(name))}, keeps its ${name} (old service: ${oneLine(text)}).`);
  const before = await readFile(file, 'utf8').catch(() => '');
  const rows = before.split(/\r\n|\n|\r/);
  const added = lines.filter((line) => !there.places.has(line.replace(/=.*/s, '')) && !rows.includes(line));
  const separator = before === '' || before.endsWith('\n') ? '' : '\n';
  if (added.length > 0)
    await appendFile(file, `${separator}${added.join('\n')}\n`).catch((error: unknown) => {
      throw fileError(file, 'written', error);
    });
  return { added, conflicts };
}

function namespaceLines(namespace: string): string[] {
  if (VARIABLES.namespace.accepts(namespace)) return [entry('SERVICE_NAMESPACE', namespace)];
  return [`${NOT_ENOUGH}namespace is ${oneLine(namespace)}, which cannot be set as SERVICE_NAMESPACE.`];
}

function addressLines(address: string): string[] {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const [, prefix = '', root = ''] = PATH.exec(url?.pathname ?? '') ?? [];
  if (url === undefined || !VARIABLES.serviceRoot.accepts(root)) {
    const path = 'Here the path is /SERVICE_ROOT/Services/WebHooks.asmx: let the proxy in front map the old one to it.';
    return [`${NOT_ENOUGH}address is ${oneLine(address) || 'not in the WSDL'}. ${path}`];
  }
  const base = url.origin + prefix;
  const later = ['# Once callers reach the new service under the old address:', `# ${entry('BASE_URL', base)}`];
  return [entry('SERVICE_ROOT', root), ...(VARIABLES.baseUrl.accepts(base) ? later : [])];
}

/** A WSDL need not name HTTP POST although the service answers it, so the setting leaves that binding on. */
function protocolLines(protocols: readonly string[]): string[] {
  const shown = Binding.all.filter((binding) => protocols.includes(Binding.names[binding]));
  if (shown.length === 0)
    return [`${NOT_ENOUGH}WSDL has no port for SOAP, HTTP GET or HTTP POST: set PROTOCOLS yourself.`];
  const on = Binding.all.filter((binding) => binding === 'httppost' || shown.includes(binding));
  const lines = on.length < Binding.all.length ? [entry('PROTOCOLS', on.join())] : [];
  if (shown.includes('httppost')) return lines;
  return [
    ...lines,
    '# Its WSDL has no port for HTTP POST. ASP.NET offers HTTP POST to its own machine by default, and hides that port from',
    '# others. If your web.config removes it too, uncomment:',
    `# ${entry('PROTOCOLS', shown.join())}`,
  ];
}

function serviceLines(old: Wsdl, { serviceName, operations }: Pick<Contract, 'serviceName' | 'operations'>) {
  const renamed = `${NOT_ENOUGH}service is named ${oneLine(old.serviceName)}, this one ${serviceName}: is it the one to replace?`;
  const missing = old.operations.filter((name) => !operations.some((own) => own.name === name));
  const lacking = missing.map((name) => [
    `${NOT_ENOUGH}service has the operation ${oneLine(name)}, this one does not. docs/architecture.md says how to add one.`,
  ]);
  return [...(old.serviceName === serviceName ? [] : [[renamed]]), ...lacking];
}

/** A line of an `.env` file. `#` may begin a comment, and `'` a value in quotes; no value can have a double quote in it. */
function entry(name: string, value: string): string {
  const quote = value.includes("'") ? '"' : "'";
  return `${name}=${/^'|#/.test(value) ? quote + value + quote : value}`;
}
