import { copyFile, link, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { temporaryName } from '../../../util/files';
import { EventLogError } from '../../event-log';
import { isBusy, openDatabase } from '../binding';
import { SqliteEventLog } from '../event-log';
import { MarksReader } from '../files/marks';
import { makeDistinct } from '../schema';

/**
 * Puts a backup in the place of a log, which is kept beside it.
 *
 * @returns where the log before is kept, if there was one.
 * @throws {EventLogError} the backup is damaged, or another process has the log open. Nothing was changed then.
 */
export async function restoreLog(backup: string, log: string): Promise<string | undefined> {
  if (!existsSync(backup)) throw new EventLogError(`There is no backup at ${backup}.`);
  if ((statSync(`${backup}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new EventLogError(`${backup} is a log in use, since a write-ahead log is beside it. Copy it with --backup.`);
  }
  const file = existsSync(log) ? realpathSync(log) : log;
  const restored = temporaryName(file);
  try {
    await copyFile(backup, restored);
    await requireWhole(restored);
    return await replace(file, restored);
  } finally {
    for (const suffix of ['', '-wal', '-shm']) await rm(restored + suffix, { force: true });
  }
}

/** Verifies a copy, and makes it a file of its own without a write-ahead log. */
async function requireWhole(file: string): Promise<void> {
  const log = await SqliteEventLog.open({ file });
  const findings = await log.verify().finally(() => log.close());
  if (findings.length > 0) throw new EventLogError(`The backup is damaged: ${findings.join(' ')}`);
  const database = openDatabase(file);
  makeDistinct(database);
  database.exec('PRAGMA journal_mode = DELETE');
  database.close();
}

async function replace(file: string, restored: string): Promise<string | undefined> {
  if (!existsSync(file)) {
    await rename(restored, file);
    return undefined;
  }
  const holders = await holdersOf(file);
  if (holders.length > 0) throw inUse(holders.join(', '));
  const before = `${file}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  const lock = openAlone(file);
  try {
    // The name is never without a file: a service that starts meanwhile would make an empty log.
    await link(file, before);
    await rename(restored, file);
    // What could not be folded into the log before belongs beside it.
    if (existsSync(`${file}-wal`)) await rename(`${file}-wal`, `${before}-wal`);
    await rm(`${file}-shm`, { force: true });
  } finally {
    lock?.close();
  }
  return before;
}

/** Locks a log for this process alone, with everything in the file itself. Undefined where it is too damaged for that. */
function openAlone(file: string): { close(): void } | undefined {
  try {
    new MarksReader().requirePair(file);
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
