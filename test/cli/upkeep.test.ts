import { restore } from '../../src/cli/upkeep';
import { readConfig } from '../../src/config/config';

it('restoring a copy is refused for a log on NATS, which nothing is asked for it', async () => {
  const { eventLog } = readConfig({ EVENT_LOG: 'nats://127.0.0.1:1/EVENTS' });
  await expect(restore('copy.db', eventLog)).rejects.toThrow(
    'restore works on a SQLite file. Use import for NATS JetStream.',
  );
});
