import { constants, type Stats } from 'node:fs';
import { copyFile, link, open, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { temporaryName } from '../../../util/files';
import { userName } from '../../../util/reason';
import { EventLogError } from '../../event-log';
import { isBusy, openDatabase } from '../binding';
import { openSqliteLog } from '../event-log';
import { ownerOfNew, pathOf, statsOf } from '../files/database-files';
import { FileStateReader } from '../files/file-state';
import { makeDistinct } from '../schema';

/** The result for a log that a backup has replaced. */
export interface Restored {
  /** Where the log before is kept, if there was one. */
  readonly before: string | undefined;
  /** Whether the last position that the log before gave is known, after which the restored one goes on. */
  readonly goesOn: boolean;
}

/**
 * Puts a backup in the place of a log, which is kept beside it.
 *
 * @throws {EventLogError} the backup is damaged, another process has the log open, or the restored log could not belong to the
 * user of the log before. Nothing was changed then.
 */
export async function restoreLog(backup: string, log: string): Promise<Restored> {
  if (statsOf(backup) === undefined) throw new EventLogError(`There is no backup at ${backup}.`);
  if ((statsOf(`${backup}-wal`)?.size ?? 0) > 0) {
    throw new EventLogError(
      `${backup} is a log in use, since a write-ahead log is beside it. Copy it with the tool: backup FILE.`,
    );
  }
  const file = pathOf(log);
  const stats = statsOf(file);
  const restored = temporaryName(file);
  try {
    await copyFile(backup, restored, constants.COPYFILE_EXCL);
    await requireWhole(restored, backup);
    await ownAs(stats ?? ownerOfNew(file), restored);
    const result = await replace(file, stats !== undefined, restored);
    await (await openSqliteLog({ file })).close();
    return result;
  } finally {
    for (const suffix of SUFFIXES) await rm(restored + suffix, { force: true });
  }
}

const SUFFIXES = ['', '-wal', '-shm'];

/** Verifies a copy, and makes it a file of its own without a write-ahead log. */
async function requireWhole(file: string, backup: string): Promise<void> {
  const log = await openSqliteLog({ file }).catch(({ cause }: EventLogError) => {
    throw new EventLogError(`The backup ${backup} cannot be restored.`, { cause });
  });
  const findings = await log.verify().finally(() => log.close());
  if (findings.length > 0) throw new EventLogError(`The backup ${backup} is damaged: ${findings.join(' ')}`);
  const database = openDatabase(file);
  makeDistinct(database);
  database.exec('PRAGMA journal_mode = DELETE');
  database.close();
}

/** Gives a copy the owner and mode of another file: the service has to be able to write it. */
async function ownAs(owner: Pick<Stats, 'uid' | 'gid' | 'mode'> | undefined, copy: string): Promise<void> {
  if (owner === undefined) return;
  const { uid, gid, mode } = owner;
  // Other users of the folder cannot have put a link in its place.
  const handle = await open(copy, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
  try {
    await handle.chown(uid, gid);
    await handle.chmod(mode & 0o777);
  } catch {
    throw new EventLogError(
      `The log belongs to user ${String(uid)} and group ${String(gid)}, to whom ${userName()} cannot give the restored one. ` +
        'Run this as root. Nothing was changed.',
    );
  } finally {
    await handle.close();
  }
}

async function replace(file: string, exists: boolean, restored: string): Promise<Restored> {
  const holders = await holdersOf(file);
  if (holders.length > 0) throw inUse(holders.join(', '));
  const before = `${file}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  const lock = exists ? openAlone(file) : undefined;
  try {
    const last = exists ? new FileStateReader().lastPosition(file) : undefined;
    if (last !== undefined) continueAfter(restored, last);
    // The name is never without a file: a service that starts meanwhile would make an empty log.
    if (exists) await link(file, before);
    await rename(restored, file);
    // A write-ahead log that could not be folded into the log before stays beside it.
    const left = SUFFIXES.slice(1).filter((suffix) => statsOf(file + suffix) !== undefined);
    for (const suffix of left) await rename(file + suffix, before + suffix);
    return { before: exists || left.length > 0 ? before : undefined, goesOn: last !== undefined };
  } finally {
    lock?.close();
  }
}

/** Has a log give its next event a position after this one. */
function continueAfter(file: string, position: number): void {
  const database = openDatabase(file);
  try {
    database
      .prepare("INSERT INTO sqlite_sequence SELECT 'events', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence)")
      .run();
    database.prepare('UPDATE sqlite_sequence SET seq = max(seq, ?)').run(position);
  } finally {
    database.close();
  }
}

/** Locks a log for this process alone, with everything in the file itself. Undefined if it is too damaged for that. */
function openAlone(file: string): { close(): void } | undefined {
  try {
    new FileStateReader().requirePair(file);
  } catch {
    return undefined;
  }
  const database = openDatabase(file);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (isBusy(error)) throw inUse('another process');
    return undefined;
  }
}

function inUse(holders: string): EventLogError {
  return new EventLogError(`The event log is open in ${holders}. Stop that first. Nothing was changed.`);
}

/** The other processes that have a log open, as far as the system tells, which is Linux alone. */
async function holdersOf(file: string): Promise<string[]> {
  const names = new Set([file, `${file}-wal`, `${file}-shm`]);
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const holders: string[] = [];
  for (const pid of processes.filter((one) => one !== String(process.pid))) {
    const folder = `/proc/${pid}/fd`;
    const descriptors = await readdir(folder).catch(() => []);
    const targets = await Promise.all(descriptors.map((fd) => readlink(`${folder}/${fd}`).catch(() => '')));
    if (!targets.some((target) => names.has(target))) continue;
    const [program = '', script = ''] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    holders.push(`process ${pid} (${[basename(program), script].join(' ').trim()})`);
  }
  return holders;
}
