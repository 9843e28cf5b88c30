import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { eventsOf, resultOf } from '../../support/bindings';
import { positionsIn } from '../../support/events-pages';
import { eventually } from '../../support/eventually';
import { send } from '../../support/http';
import { startService } from '../../support/service';
import { directly } from '../../support/sqlite';
import { useTemporaryFolder } from '../../support/temporary-folder';

describe('events that the disk has damaged', () => {
  const folder = useTemporaryFolder();

  it('keep no other from being shown, read, downloaded and exported', async () => {
    const file = join(folder.path, 'events.db');
    const service = await startService({}, await openSqliteLog({ file }));
    const hint = jest.fn();
    service.log.observe({ hint });
    await service.log.append(...['one', 'two', 'three', 'four', 'five'].map((id) => newEvent({ id })));
    directly(
      file,
      `UPDATE events SET attributes = 'x' WHERE sequence = 2;
       UPDATE events SET data = CAST(x'2264617461223a2261ff6222' AS TEXT) WHERE sequence = 3;
       UPDATE events SET data = '"data":"lost' WHERE sequence = 4`,
    );
    // A search that has taken half a second leaves the rest to the next one; on a busy machine five events may take that long.
    await eventually('the list has all events', async () => {
      const list = await send(`${service.url}?events`);
      return list.status === 200 && positionsIn(list.body).join() === '5,3,1';
    });
    const pages = await Promise.all(['1', '2', '3', '4', '5'].map((at) => send(`${service.url}?event=${at}`)));
    expect(pages.map(({ status }) => status)).toEqual([200, 404, 200, 404, 200]);
    const events = eventsOf(resultOf(await send(`${service.url}/GetEvents`)));
    expect(events.map(({ sequence }) => Number(sequence))).toEqual([1, 3, 5]);
    const exported = async (query = '') => {
      const { body } = await send(`${service.url}?events=export${query}`);
      return [...body.matchAll(/"sequence":"0*(\d)/g)].map(([, position]) => Number(position));
    };
    expect(await exported()).toEqual([1, 3, 5]);
    // Only the beginning of long data is looked at by a search.
    directly(file, `UPDATE events SET data = '"data":"' || printf('%0999d', 1) WHERE sequence = 4`);
    expect(await exported('&type=test')).toEqual([1, 3, 5]);
    expect(hint).toHaveBeenCalledWith('damaged event', expect.stringContaining('Event 2 cannot be read'));
    await service.stop();
  });
});
