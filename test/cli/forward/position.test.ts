import { rmSync } from 'node:fs';
import promises, { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import timers from 'node:timers/promises';
import { PositionFile } from '../../../src/cli/forward/position';
import { forwardAfter } from '../../../src/cli/forward/forward';
import type { EventLog } from '../../../src/log/event-log';
import { MemoryStore, openMemoryLog } from '../../../src/log/memory/event-log';
import * as files from '../../../src/util/files';
import { newEvent } from '../../support/events';
import { eventually } from '../../support/eventually';
import { startTarget } from '../../support/target';
import { useTemporaryFolder } from '../../support/temporary-folder';

const POSITION = { sequence: 17, event: { id: 'ä\n', recordedAt: 1_700_000_000_000 } };

describe('the file of a position', () => {
  const folder = useTemporaryFolder();
  const path = (name: string) => join(folder.path, name);

  it('gives back what was written last, and leaves no other file, nor what a killed process left behind', async () => {
    await writeFile(path('p.json.unfinished'), 'a longer text than a position has'.repeat(9));
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

  it('is on disk, and then has its name there, before the next event is posted', async () => {
    const [write, rename] = [jest.spyOn(promises, 'writeFile'), jest.spyOn(promises, 'rename')];
    const flush = jest.spyOn(files, 'flush');
    await new PositionFile(path('p.json')).write(POSITION);
    expect(write).toHaveBeenCalledWith(path('p.json.unfinished'), expect.any(String), { flush: true });
    expect(flush).toHaveBeenCalledWith(folder.path);
    const order = [write, rename, flush].map(({ mock }) => mock.invocationCallOrder[0] ?? NaN);
    expect(order.toSorted((a, b) => a - b)).toEqual(order);
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

  describe('of a forwarder', () => {
    let store: MemoryStore;
    let log: EventLog;
    let said: jest.SpyInstance<void, string[]>;
    beforeEach(async () => {
      store = new MemoryStore();
      log = openMemoryLog(undefined, store);
      await log.append(newEvent(), newEvent({ id: 'second' }));
      said = jest.spyOn(console, 'error').mockReturnValue();
    });
    afterEach(() => log.close());

    /** Forwards the events, and returns how many were posted, and what went wrong with its exit code. */
    async function forwarded(values: object, react?: () => number, { signal } = new AbortController()) {
      const target = await startTarget(react);
      const all = { since: { after: 0 }, position: path('p.json'), ...values };
      const problem = await forwardAfter({ log, url: new URL(target.url), mode: {}, values: all, stop: signal }).catch(
        ({ message, exitCode = 1 }: Error & { exitCode?: number }) => `${String(exitCode)}: ${message}`,
      );
      await target.close();
      return [target.received.length, problem];
    }

    it('has the last event that was posted before a signal, once forwarding has ended', async () => {
      const stop = new AbortController();
      expect(await forwarded({ follow: true }, () => (stop.abort(), 204), stop)).toEqual([1, undefined]);
      expect(await new PositionFile(path('p.json')).read()).toMatchObject({ sequence: 1 });
      const again = new AbortController();
      expect(await forwarded({}, () => (again.abort(new Error('Stop.')), 204), again)).toEqual([1, '1: Stop.']);
    });

    it('is past the events after the last that was chosen', async () => {
      expect(await forwarded({ type: 'another' })).toEqual([0, undefined]);
      expect(await new PositionFile(path('p.json')).read()).toMatchObject({ sequence: 2 });
    });

    it.each([
      ['an event that is refused', 404, {}, [1, expect.stringMatching(/^3: .*\(--skip-refused passes over such/)], 0],
      ['the end, past refused events, with --skip-refused', 404, { skipRefused: true }, [2, undefined], 2],
      ['a redirect', 301, { skipRefused: true }, [1, expect.stringMatching(/^3: .*Redirects are not followed/)], 0],
    ])('stays before %s', async (_what, status, values, outcome, sequence) => {
      expect(await forwarded(values, () => status)).toEqual(outcome);
      expect(await new PositionFile(path('p.json')).read()).toMatchObject({ sequence });
    });

    it.each([
      ['two seconds on a terminal', true, 2000],
      ['a minute', undefined, 60_000],
    ])('stays where the target does not take an event, with pauses of up to %s', async (_what, isTTY, longest) => {
      const { isTTY: was } = process.stderr;
      Object.assign(process.stderr, { isTTY });
      jest.spyOn(Math, 'random').mockReturnValue(0);
      // Other loops of the log pause, too, and must let this one go on.
      const pauses = jest.spyOn(timers, 'setTimeout').mockImplementation(() => timers.setImmediate());
      const problem = expect.stringMatching(/^1: .* It was tried 3 times\.$/) as string;
      expect(await forwarded({}, () => 503)).toEqual([3, problem]);
      const again = /^Event 1 was not taken by http:\S+: 503 .*\. Trying again in \d\.\d s\.$/;
      expect(said.mock.calls.flat()).toContainEqual(expect.stringMatching(again));
      expect(await new PositionFile(path('p.json')).read()).toMatchObject({ sequence: 0 });
      const stop = new AbortController();
      let calls = 0;
      const late = () => (++calls < 9 ? 503 : (stop.abort(), 204));
      expect(await forwarded({ follow: true }, late, stop)).toEqual([9, undefined]);
      Object.assign(process.stderr, { isTTY: was });
      expect(Math.max(...pauses.mock.calls.map(([pause = 0]) => pause))).toBe(longest);
    });

    it('is refused to others until forwarding has ended', async () => {
      const stop = new AbortController();
      const lock = () => new PositionFile(path('p.json')).lock();
      let other: Promise<unknown> | undefined;
      const ask = () => {
        other ??= lock().catch(String);
        void other.then(() => stop.abort());
        return 204;
      };
      await forwarded({ follow: true }, ask, stop);
      expect(await other).toMatch(/p\.json is the --position of another forwarder that is running\./);
      (await lock()).close();
    });

    it('lets no event be posted once the one before it cannot be kept there', async () => {
      await mkdir(path('folder'));
      const removeFolder = () => (rmSync(path('folder'), { recursive: true, force: true }), 204);
      const missing = expect.stringContaining('its folder does not exist') as string;
      expect(await forwarded({ position: path('folder/p.json') }, removeFolder)).toEqual([1, missing]);
    });

    it('is not gone on from once another log has taken the place of the one that is followed', async () => {
      const scans = jest.spyOn(log, 'scan');
      const forwarding = forwarded({ follow: true, since: undefined });
      await eventually('it waits for events', () => scans.mock.calls.some(([{ limit }]) => limit > 1));
      const event = { id: 'second', recordedAt: 1_700_000_000_000 };
      expect(await new PositionFile(path('p.json')).read()).toEqual({ sequence: 2, event });
      store.events = store.events.map((each) => ({ ...each, id: 'other' }));
      await log.append(newEvent());
      const problem = expect.stringContaining('Event 2 of this event log is not the one that was') as string;
      expect(await forwarding).toEqual([0, problem]);
    });

    it.each([
      ['another event stands there', 2, 'is not the one that was forwarded. Name the log'],
      ['no event is there yet', 1, 'This event log ends before event 2, after which'],
    ])('is refused for a log in which %s, and then free for other forwarders', async (_what, last, problem) => {
      await forwarded({});
      const events = store.events.slice(0, last).map((each) => ({ ...each, id: 'other' }));
      Object.assign(store, { events, last });
      expect(await forwarded({})).toEqual([0, expect.stringContaining(problem)]);
      expect(await new PositionFile(path('p.json')).read()).toMatchObject({ sequence: 2 });
      (await new PositionFile(path('p.json')).lock()).close();
    });

    it('is gone on from past events that retention took, which are named, and past holes, which are not', async () => {
      const append = (count: number) => log.append(...Array.from({ length: count }, () => newEvent()));
      await forwarded({});
      await append(3);
      await log.forget([1, 2, 3, 4]);
      expect(await forwarded({})).toEqual([1, undefined]);
      await append(2);
      await log.forget([6]);
      expect(await forwarded({})).toEqual([1, undefined]);
      const taken = 'The log no longer has the events 3 to 4 (retention): they were not forwarded.';
      expect(said.mock.calls.flat().filter((line) => line.startsWith('The log'))).toEqual([taken]);
    });
  });
});
