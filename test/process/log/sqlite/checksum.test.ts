import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArchiveLine } from '../../../../src/events/archive-line';
import { checksumOf } from '../../../../src/log/sqlite/checksum';
import { openSqliteLog } from '../../../../src/log/sqlite/event-log';
import { ReadOnlyConnection } from '../../../../src/log/sqlite/read-only';
import { SqliteReader } from '../../../../src/log/sqlite/reader';
import { verify } from '../../../../src/log/sqlite/upkeep/verification';
import { directly } from '../../../support/sqlite';
import { useTemporaryFolder } from '../../../support/temporary-folder';
import { newEvent } from '../../../support/events';

describe('the checksum of an event', () => {
  const folder = useTemporaryFolder();
  let file: string;
  beforeEach(async () => {
    file = join(folder.path, 'events.db');
    const log = await openSqliteLog({ file });
    const events = Array.from({ length: 40 }, (_, i) =>
      newEvent({
        id: `id-${String(i)}`,
        recordedAt: 1_795_619_512_144 + i,
        data: i % 5 === 0 ? undefined : `"data":"${'\u20ac<x'.repeat(20 * i)}"`,
        ...(i % 2 === 0 && { idempotencyKey: `key ${String(i)}` }),
        ...(i % 3 === 0 && { webhookId: `hook ${String(i)}` }),
      }),
    );
    await log.appendAll(events);
    await log.close();
  });

  /** What a log holds, and what is wrong with it. */
  const look = (name: string): { events: string; findings: readonly string[] } => {
    let events = '';
    try {
      const connection = new ReadOnlyConnection(name);
      try {
        const scanned = new SqliteReader(connection).scan({ after: 0, limit: 1000 });
        events = JSON.stringify(scanned);
        const problems = scanned.map(ArchiveLine.eventProblem).filter((problem) => problem !== undefined);
        return { events, findings: [...verify(connection), ...problems] };
      } finally {
        connection.close();
      }
    } catch (error) {
      return { events, findings: [String(error)] };
    }
  };

  it('finds each bit that is flipped in the file and changes an event', async () => {
    const whole = await readFile(file);
    const { events, findings } = look(file);
    expect(findings).toEqual([]);
    let changed = 0;
    // Any steps that reach all pages and all bits.
    for (let bit = 1001; bit < whole.length * 8; bit += 2311 * 2 + 1) {
      const bytes = Buffer.from(whole);
      const at = Math.floor(bit / 8);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (bit % 8)), at);
      const name = join(folder.path, 'flipped.db');
      await writeFile(name, bytes);
      const seen = look(name);
      if (seen.events === events) continue;
      changed++;
      expect({ bit, isFound: seen.findings.length > 0 }).toEqual({ bit, isFound: true });
    }
    expect(changed).toBeGreaterThan(50);
  });

  it.each([
    ['recorded_at', 'recorded_at + 1'],
    ['recorded_at', 'recorded_at + 4294967296 * 60000'],
    ['source', "replace(source, '/', '.')"],
    ['idempotency_key', "replace(idempotency_key, 'k', 'j')"],
    ['idempotency_key', 'NULL'],
    ['webhook_id', "''"],
    ['attributes', "replace(attributes, '1.0', '1.1')"],
    ['arrival', "arrival || ' '"],
    ['data', "replace(data, 'x', 'y')"],
    ['checksum', 'checksum + 1'],
  ])('finds another %s: %s', async (column, value) => {
    directly(file, `UPDATE events SET ${column} = ${value} WHERE id = 'id-18'`);
    const log = await openSqliteLog({ file });
    expect(await log.verify()).toContainEqual(
      'Event 00000000000000000019 is not as it was recorded: it has another checksum than was noted.',
    );
    await log.close();
  });

  it('is the same for the same texts, in whatever parts they come, for all versions of the service', () => {
    const texts = ['a', '/s', '{}', '{}', '"data":"\u20ac"', undefined, ''].map((text) =>
      text === undefined ? null : Buffer.from(text),
    );
    const joined = Buffer.concat(texts.filter((text) => text !== null));
    expect(checksumOf(1_795_619_512_144, texts)).toBe(checksumOf(1_795_619_512_144, texts, [joined]));
    expect(checksumOf(1_795_619_512_144, texts)).toBe(992_443_463);
  });
});
