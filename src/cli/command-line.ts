import { BUILD } from '../util/program';
import { ProcessConfig } from '../config/process-config';
import { variablesOf } from '../config/variable';
import { VARIABLES } from '../config/variables';
import { Proxies } from '../http/proxies';
import { shortened } from '../util/text';

/** Returns the program of a tool that is named in place of an option; it sets the exit code. */
export function toolNamed(name: string | undefined): ((args: readonly string[]) => Promise<void>) | undefined {
  if (name === 'events') return async (args) => (await import('./events.js')).runEventsTool(args);
  if (name === 'compare') return async (args) => (await import('./compare/main.js')).runCompareTool(args);
  return undefined;
}

/**
 * Answers the argument of the service. Returns undefined if there is none and the service should start. The exit code is 1 if the
 * service is not ready, 2 if the argument is not known; unless it is 0, the text is an error.
 *
 * @throws {ConfigError} `--ready` needs settings that are wrong.
 */
export async function answerCommandLine(argument: string | undefined) {
  if (argument === undefined) return undefined;
  if (['--help', '-h'].includes(argument)) return { text: usage(), exitCode: 0 };
  if (['--version', '-v'].includes(argument)) return { text: BUILD.name, exitCode: 0 };
  if (argument === '--ready') return askReadiness();
  const advice = 'Settings are environment variables: NAME=VALUE before the command, or in .env. --help lists them.';
  return { text: `Unknown argument ${JSON.stringify(argument)}. ${advice}`, exitCode: 2 };
}

function usage(): string {
  const lines = [
    `WebHook ${BUILD.name}: a drop-in replacement for a WebHooks.asmx web service`,
    '',
    'Usage: asmx-webhook [--help | --version | --ready]',
    '       asmx-webhook events …    works on the event log: print, follow, forward, export, verify and more',
    '       asmx-webhook compare …   compares the service that is to be replaced with this one',
    '',
    '  --ready  starts nothing: exits with 0 if the service that runs with the same settings is ready, otherwise with 1',
    '',
    'Settings are environment variables, or lines NAME=VALUE of a file .env in the working directory:',
  ];
  let section = '';
  for (const { group, name, about } of variablesOf(VARIABLES)) {
    if (group !== section) lines.push('', `${group}:`);
    section = group;
    const standard = about.default ?? about.otherwise;
    const description = standard === undefined ? about.description : `${about.description} (${standard})`;
    lines.push(`  ${name.padEnd(22)}${description}`.replaceAll('`', ''));
  }
  return lines.join('\n');
}

/** Asks the service that runs with these settings on this machine for `/readyz`, at ADMIN_PORT if it has one. */
async function askReadiness() {
  const { admin, host, port, tls } = ProcessConfig.ofTool('host', 'port', 'admin', 'tls');
  const isSecure = admin.port === undefined && tls.cert !== undefined;
  const address =
    admin.port === undefined ? Proxies.localAuthority(host, port) : Proxies.localAuthority(admin.host, admin.port);
  const url = `${isSecure ? 'https' : 'http'}://${address}/readyz`;
  const { HttpClient, NoAnswerError } = await import('./http-client.js');
  // The certificate has the name that callers use; this is the same machine, and nothing secret is sent.
  const client = new HttpClient({ timeout: 5000, isInsecure: true, isDirect: true });
  const answer = await client.ask(new URL(url), { method: 'GET' });
  if (answer instanceof NoAnswerError) return { text: `${url} does not answer: ${answer.message}`, exitCode: 1 };
  return { text: shortened(answer.body.toString().trimEnd()), exitCode: answer.status === 200 ? 0 : 1 };
}
