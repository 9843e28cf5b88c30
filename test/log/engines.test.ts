import fs from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { eventLogAddress } from '../../src/log/engines';
import { EventLogError } from '../../src/log/engine';
import { openMemoryLog } from '../../src/log/memory/event-log';
import * as sqlite from '../../src/log/sqlite/event-log';
import { eventually } from '../support/eventually';
import { useTemporaryFolder } from '../support/temporary-folder';
import { newEvent } from '../support/events';

describe('where an event log is kept', () => {
  const folder = useTemporaryFolder();

  it.each([
    ['sqlite:data/events.db', 'SQLite', resolve('data/events.db')],
    ['nats://user:secret@h1,h2:4223/EVENTS?replicas=3', 'NATS JetStream', 'h1:4222,h2:4223/EVENTS'],
    ['tls://user:secret@h/EVENTS', 'NATS JetStream', 'h:4222/EVENTS'],
    ['memory:', 'memory', 'memory'],
    ['postgres://me@h1,h2:5433/events?connections=8', 'PostgreSQL', 'h1:5432,h2:5433/events'],
  ])('%s is %s, with a name that holds no secret', (text, engine, name) => {
    expect(eventLogAddress.locate(text)).toMatchObject({ engine, name });
  });

  it.each(['events.db', 'nuts://h/EVENTS', 'SQLITE:events.db', ''])('%s is refused with all forms', (text) => {
    expect(() => eventLogAddress.locate(text)).toThrow(
      'must be sqlite: and the path of a file, as in sqlite:data/events.db, or the address of a NATS stream, as in ' +
        'nats://user:password@host1:4222,host2:4222/EVENTS?replicas=3, or the address of a PostgreSQL database, as in ' +
        'postgres://user@host1:5432,host2:5432/database, or memory: for a log that ends with the service',
    );
  });

  it.each([
    ['sqlite:', 'be sqlite: and the path of a file, as in sqlite:data/events.db'],
    ['sqlite://data/e.db', 'have one slash or none after sqlite: as in sqlite:data/events.db'],
    ['postgres://h', 'be the address of a PostgreSQL database, as in postgres://user@host1:5432,host2:5432/database'],
  ])('%s is refused with the form of its engine', (text, form) => {
    expect(() => eventLogAddress.locate(text)).toThrow(new Error(`must ${form}`));
  });

  it.each([
    ['nats://u:sec@ret@h/E?creds=c&replicas=3&password=secret', 'nats://***@h/E?creds=c&replicas=3&password=***'],
    ['nuts://u:secret@h/E?creds=secret', 'nuts://***@h/E?creds=***'],
    ['nats://u:sec\nret@h/E', 'nats://***@h/E'],
    ['postgres://u:secret@h/d?connections=4&password=secret', 'postgres://***@h/d?connections=4&password=***'],
  ])('%s is shown as %s', (text, shown) => {
    expect(eventLogAddress.withoutSecrets(text)).toBe(shown);
  });

  it('is the memory of one process, in which no other finds a log', async () => {
    const settings = { timeout: 1000, retention: { maxEvents: 1, maxAge: undefined } };
    const location = eventLogAddress.locate('memory:');
    const log = await location.open(settings);
    await log.append(newEvent(), newEvent());
    await eventually('one is forgotten', async () => (await log.stats()).events === 1);
    await expect(location.open({ ...settings, create: false })).rejects.toThrow(EventLogError);
    const other = await location.open(settings);
    expect((await other.stats()).events).toBe(0);
    await Promise.all([log.close(), other.close()]);
  });

  it('is a file that is opened with the settings given', async () => {
    const log = openMemoryLog();
    const open = jest.spyOn(sqlite, 'openSqliteLog').mockResolvedValueOnce(log);
    const settings = { retention: { maxAge: 1 }, create: true, isShared: true, forgets: false };
    expect(await eventLogAddress.locate('sqlite:events.db').open({ ...settings, timeout: 1 })).toBe(log);
    expect(open).toHaveBeenCalledWith({ ...settings, file: resolve('events.db') });
    await log.close();
  });

  it('is warned of where the file is mounted without its folder', async () => {
    const file = join(folder.path, 'my events.db');
    await writeFile(file, '');
    await symlink(file, join(folder.path, 'link'));
    const location = eventLogAddress.locate(`sqlite:${join(folder.path, 'link')}`);
    expect(location.warning?.()).toBeUndefined();
    const mounts = [folder.path, file].map((at) => `36 35 98:0 /x ${at.replace(' ', '\\040')} rw - ext4 /dev/root rw`);
    jest
      .spyOn(fs, 'readFileSync')
      .mockReturnValueOnce(mounts.join('\n'))
      .mockReturnValueOnce(mounts[0] ?? '');
    expect(location.warning?.()).toContain('link is mounted without its folder');
    expect(location.warning?.()).toBeUndefined();
  });
});
