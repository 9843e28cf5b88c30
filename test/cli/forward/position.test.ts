import { rmSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PositionFile } from '../../../src/cli/forward/position';
import { forwardEvents } from '../../../src/cli/forward/forward';
import { openMemoryLog } from '../../../src/log/memory/event-log';
import { newEvent } from '../../support/events';
import { startTarget } from '../../support/target';
import { useTemporaryFolder } from '../../support/temporary-folder';

const POSITION = { sequence: 17, event: { id: 'ä\n', recordedAt: 1_700_000_000_000 } };

describe('the file of a position', () => {
  const folder = useTemporaryFolder();
  const path = (name: string) => join(folder.path, name);

  it('gives back what was written last, and leaves no other file', async () => {
    const file = new PositionFile(path('p.json'));
    expect(await file.read()).toBeUndefined();
    await file.write({ sequence: 0, event: undefined });
    expect(await new PositionFile(path('p.json')).read()).toEqual({ sequence: 0, event: undefined });
    await file.write(POSITION);
    expect(await new PositionFile(path('p.json')).read()).toEqual(POSITION);
    expect(await readdir(folder.path)).toEqual(['p.json']);
    expect(await readFile(path('p.json'), 'utf8')).toBe(
      '{"sequence":"00000000000000000017","event":{"id":"ä\\n","recordedAt":1700000000000}}\n',
    );
  });

  it('takes the place of what a killed process left behind', async () => {
    await writeFile(path('p.json.unfinished'), 'a longer text than a position has'.repeat(9));
    await new PositionFile(path('p.json')).write(POSITION);
    expect(await new PositionFile(path('p.json')).read()).toEqual(POSITION);
    expect(await readdir(folder.path)).toEqual(['p.json']);
  });

  it.each([
    ['nothing', ''],
    ['half of it', '{"sequence":"000000'],
    ['other JSON', '[1]'],
    ['no digits', '{"sequence":"x"}'],
    ['a wrong number', '{"sequence":1.5}'],
  ])('is refused in one line where it holds %s', async (_what, text) => {
    await writeFile(path('p.json'), text);
    await expect(new PositionFile(path('p.json')).read()).rejects.toThrow(
      new Error(
        `${path('p.json')} does not hold a position, or is damaged. ` +
          'Choose another name, or remove it and say with --since where to begin.',
      ),
    );
  });

  it('is refused in one line where it cannot be a file', async () => {
    await mkdir(path('folder'));
    await expect(new PositionFile(path('folder')).read()).rejects.toThrow(
      new Error(`${path('folder')} cannot be read: it is a folder.`),
    );
    const file = new PositionFile(path('nowhere/p.json'));
    expect(await file.read()).toBeUndefined();
    await expect(file.write(POSITION)).rejects.toThrow(
      new Error(`${path('nowhere/p.json')} cannot be written: its folder does not exist.`),
    );
  });

  it('has the last event that was posted before a signal, once forwarding has ended', async () => {
    jest.spyOn(console, 'error').mockReturnValue();
    const log = openMemoryLog();
    await log.append(newEvent(), newEvent());
    const stop = new AbortController();
    const target = await startTarget(() => (stop.abort(), 204));
    const values = { follow: true, since: { after: 0 }, position: path('p.json') };
    await forwardEvents(log, new URL(target.url), {}, undefined, values, stop.signal);
    expect(await new PositionFile(path('p.json')).read()).toMatchObject({ sequence: 1 });
    await target.close();
    await log.close();
    jest.restoreAllMocks();
  });

  it('is past the events after the last that was chosen', async () => {
    jest.spyOn(console, 'error').mockReturnValue();
    const log = openMemoryLog();
    await log.append(newEvent(), newEvent());
    const target = await startTarget();
    const values = { type: 'another', since: { after: 0 }, position: path('p.json') };
    await forwardEvents(log, new URL(target.url), {}, undefined, values, new AbortController().signal);
    expect(await new PositionFile(path('p.json')).read()).toMatchObject({ sequence: 2 });
    await target.close();
    await log.close();
    jest.restoreAllMocks();
  });

  it('lets no event be posted once the one before it cannot be kept there', async () => {
    jest.spyOn(console, 'error').mockReturnValue();
    const log = openMemoryLog();
    await log.append(newEvent(), newEvent());
    await mkdir(path('folder'));
    const target = await startTarget(() => {
      rmSync(path('folder'), { recursive: true, force: true });
      return 204;
    });
    const values = { since: { after: 0 }, position: path('folder/p.json') };
    const { signal } = new AbortController();
    const forwarding = forwardEvents(log, new URL(target.url), {}, undefined, values, signal);
    const problem = await forwarding.catch(String).finally(() => target.close());
    expect([problem, target.received.length]).toEqual([expect.stringContaining('its folder does not exist'), 1]);
    await log.close();
    jest.restoreAllMocks();
  });
});
