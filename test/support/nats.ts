import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { run } from './program.cjs';

export type NatsServer = Awaited<ReturnType<typeof startNats>>;

/**
 * Starts a nats-server on the loopback interface, with JetStream; port -1 lets it pick a free one. What it stores is in the folder, and still
 * there after a restart.
 */
export async function startNats(folder: string, port = -1, configuration = '') {
  const file = join(folder, 'nats.conf');
  await writeFile(file, `max_payload: 32MB\n${configuration}\n`);
  const stored = ['-js', '-sd', join(folder, 'jetstream')];
  const server = run(['nats-server', '-c', file, '-a', '127.0.0.1', '-p', String(port), ...stored]);
  const [, taken] = await server.prints(/client connections on 127\.0\.0\.1:(\d+)[^]*Server is ready/);
  return { ...server, port: Number(taken) };
}

/** An operator of NATS with one account: what a server needs to trust it, and files of credentials for its users. */
export function natsOperator() {
  const [operator, account, system] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
  const token = (issuer: nkeys.KeyPair, subject: nkeys.KeyPair, nats: object, exp?: number) => {
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer.getPublicKey(), sub: subject.getPublicKey(), name: 'test', iat, exp, nats };
    const parts = [
      { typ: 'JWT', alg: 'ed25519-nkey' },
      { jti: JSON.stringify(claims), ...claims },
    ];
    const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
  };
  const unlimited = (...names: string[]) => Object.fromEntries(names.map((name) => [name, -1]));
  const common = { ...unlimited('subs', 'data', 'payload', 'imports', 'exports', 'conn', 'leaf'), wildcards: true };
  const stored = { ...common, ...unlimited('mem_storage', 'disk_storage', 'streams', 'consumer') };
  const preloaded = (of: nkeys.KeyPair, limits: object) =>
    `${of.getPublicKey()}: ${token(operator, of, { type: 'account', version: 2, limits })}`;
  return {
    configuration:
      `operator: ${token(operator, operator, { type: 'operator', version: 2 })}\nresolver: MEMORY\n` +
      `system_account: ${system.getPublicKey()}\nresolver_preload: { ${preloaded(account, stored)}, ${preloaded(system, common)} }`,
    credentials({ seconds }: { readonly seconds: number }) {
      const user = nkeys.createUser();
      const nats = { type: 'user', version: 2, ...unlimited('subs', 'data', 'payload') };
      const jwt = token(account, user, nats, Math.floor(Date.now() / 1000) + seconds);
      const part = (title: string, text: string) => `-----BEGIN ${title}-----\n${text}\n------END ${title}------\n\n`;
      return part('NATS USER JWT', jwt) + part('USER NKEY SEED', Buffer.from(user.getSeed()).toString());
    },
  };
}
