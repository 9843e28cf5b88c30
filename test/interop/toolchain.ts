import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { missingPrograms } from '../support/tools';
import { TEXT, type Client } from './clients';

/** Most milliseconds for making, building and running one client. */
export const ALLOWED = 150_000;

/** The environment of a client and of what builds it. A Java program that runs for a second is slower with a compiler that optimizes. */
export const ENVIRONMENT = {
  ...process.env,
  LC_ALL: 'C.UTF-8',
  DOTNET_CLI_TELEMETRY_OPTOUT: '1',
  JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC',
};

/** What a client printed. */
export interface Transcript {
  /** Value of each check, by `binding check`. */
  readonly values: ReadonlyMap<string, string>;
  /** What it printed on standard error if it failed; otherwise empty. */
  readonly trouble: string;
}

/** How a script of a client is run: it ends at the first error, and `$here` is its folder. */
function script({ folder }: Client, name: string, cwd: string) {
  const here = join(__dirname, 'clients', folder);
  const options = { cwd, env: { ...ENVIRONMENT, here }, timeout: ALLOWED, maxBuffer: 64 * 1024 * 1024 };
  return { command: ['-euo', 'pipefail', join(here, name)], options };
}

/** Names what this machine lacks for a client: programs, or packages that the client looks for itself. */
export function missingFor(client: Client): string | undefined {
  const programs = missingPrograms(client.programs);
  if (programs !== undefined) return programs;
  const folder = mkdtempSync(join(tmpdir(), 'webhook-'));
  const { command, options } = script(client, 'available.sh', folder);
  const isAsked = existsSync(command.at(-1) ?? '');
  const missing = isAsked ? spawnSync('bash', command, { ...options, encoding: 'utf8' }).stdout.trim() : '';
  rmSync(folder, { recursive: true });
  return missing.replaceAll('\n', ', ') || undefined;
}

/** Makes the client of a toolchain from the WSDL of a service in a new folder, and runs it. */
export async function runClient(client: Client, url: string, folder: string, namespace: string): Promise<Transcript> {
  await mkdir(folder);
  const { command, options } = script(client, 'run.sh', folder);
  const given = [...command, `${url}?WSDL`, client.text ?? TEXT, namespace];
  const { stdout, trouble } = await promisify(execFile)('bash', given, options).then(
    (ended) => ({ stdout: ended.stdout, trouble: '' }),
    (error: unknown) => {
      const ended = error as { stdout: string; stderr: string; message: string };
      return { stdout: ended.stdout, trouble: ended.stderr || ended.message };
    },
  );
  const lines = stdout.split('\n').map((line) => line.split('\t'));
  const values = new Map(
    lines.map(([binding = '', check = '', ...value]) => [`${binding} ${check}`, value.join('\t')]),
  );
  return { values, trouble };
}
