import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { missingPrograms } from '../support/tools';
import { NAMESPACE } from '../support/bindings';
import { TEXT, type Client } from './clients';

const execute = promisify(execFile);

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

/** Names what this machine lacks for a client: programs, or packages that the client looks for itself. */
export function missingFor(client: Client): string | undefined {
  const programs = missingPrograms(client.programs);
  if (programs !== undefined) return programs;
  const asks = join(folderOf(client), 'available.sh');
  if (!existsSync(asks)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'webhook-'));
  const { stdout } = spawnSync('bash', [asks], { cwd: folder, encoding: 'utf8', timeout: ALLOWED });
  rmSync(folder, { recursive: true });
  return stdout.trim().replaceAll('\n', ', ') || undefined;
}

/** Makes the client of a toolchain from the WSDL of a service in a new folder, and runs it. */
export async function runClient(
  client: Client,
  url: string,
  folder: string,
  namespace = NAMESPACE,
): Promise<Transcript> {
  await mkdir(folder);
  const options = { cwd: folder, env: ENVIRONMENT, timeout: ALLOWED, maxBuffer: 64 * 1024 * 1024 };
  const command = [join(folderOf(client), 'run.sh'), `${url}?WSDL`, client.text ?? TEXT, namespace];
  const { stdout, trouble } = await execute('bash', command, options).then(
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

function folderOf(client: Client): string {
  return join(__dirname, 'clients', client.folder);
}
