import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { LargeMessages } from '../../src/call/large-messages';
import { Place } from '../../src/call/place';
import { BodyReader } from '../../src/http/content/body';
import { InFlight } from '../../src/call/in-flight';
import { deferred } from '../../src/util/promises';

/** As much of a response as a place listens to. */
function fakeResponse() {
  const socket = Object.assign(new EventEmitter(), { destroyed: false, readableEnded: false });
  const response = Object.assign(new EventEmitter(), { closed: false, req: { socket } });
  return { socket, response: response as unknown as ServerResponse, emitter: response };
}

describe('the place of a call', () => {
  let inFlight: InFlight;
  let largeMessages: LargeMessages;
  let fake: ReturnType<typeof fakeResponse>;
  let place: Place;
  beforeEach(() => {
    inFlight = new InFlight(2, 2);
    largeMessages = new LargeMessages();
    fake = fakeResponse();
    place = new Place({ inFlight, largeMessages, bodies: new BodyReader(1024, 1024) }, fake.response);
  });

  const counts = () => [inFlight.calls, inFlight.waiting];
  /** Takes a turn as another large message does, and ends it at once. */
  const anotherTurn = async () => {
    const end = await largeMessages.turn();
    end();
  };

  it('is given back once, however often that is asked for', () => {
    place.takeSlot();
    expect(counts()).toEqual([1, 0]);
    place.giveBack();
    place.giveBack();
    expect(counts()).toEqual([0, 0]);
  });

  it('that was never taken gives back nothing', () => {
    place.giveBack();
    expect(counts()).toEqual([0, 0]);
  });

  it('gives back its turn with its slot', async () => {
    place.takeSlot();
    await place.takeTurn();
    await place.takeTurn();
    let had = false;
    const another = anotherTurn().then(() => (had = true));
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(had).toBe(false);
    place.giveBack();
    await another;
  });

  it('gives back slot and turn while it waits, and takes the slot again afterwards', async () => {
    place.takeSlot();
    await place.takeTurn();
    const happened = deferred<string>();
    const waiting = place.whileIdle(() => happened.promise);
    expect(counts()).toEqual([0, 1]);
    await anotherTurn();
    happened.resolve('it');
    expect(await waiting).toBe('it');
    expect(counts()).toEqual([1, 0]);
    place.giveBack();
    expect(counts()).toEqual([0, 0]);
  });

  it('takes the slot again although all of them are taken', async () => {
    place.takeSlot();
    const happened = deferred();
    const waiting = place.whileIdle(() => happened.promise);
    inFlight.enter();
    inFlight.enter();
    happened.resolve();
    await waiting;
    expect(counts()).toEqual([3, 0]);
    expect(() => {
      inFlight.enter();
    }).toThrow('MAX_IN_FLIGHT');
  });

  it('is given back once where the wait fails, at once or later', async () => {
    place.takeSlot();
    await expect(place.whileIdle(() => Promise.reject(new Error('later')))).rejects.toThrow('later');
    const atOnce = (): never => {
      throw new Error('at once');
    };
    await expect(place.whileIdle(atOnce)).rejects.toThrow('at once');
    expect(counts()).toEqual([1, 0]);
    place.giveBack();
    expect(counts()).toEqual([0, 0]);
  });

  it('is given back once where the call ends while it waits', async () => {
    place.takeSlot();
    const happened = deferred();
    const waiting = place.whileIdle(() => happened.promise);
    place.giveBack();
    expect(counts()).toEqual([0, 1]);
    happened.resolve();
    await waiting;
    expect(counts()).toEqual([0, 0]);
  });

  it('is kept where too many wait already', async () => {
    for (let i = 0; i < 2; i++) {
      inFlight.enter();
      inFlight.pause();
    }
    place.takeSlot();
    await expect(place.whileIdle(() => Promise.resolve())).rejects.toMatchObject({
      status: 503,
      refusal: 'busy',
      message: 'Too many calls wait for events: more than 2 (MAX_WAITING).',
      headers: { 'Retry-After': '1' },
    });
    expect(counts()).toEqual([1, 2]);
    place.giveBack();
    expect(counts()).toEqual([0, 2]);
  });

  it('cannot wait twice at a time, nor without a slot', async () => {
    await expect(place.whileIdle(() => Promise.resolve())).rejects.toThrow('only while it is in progress');
    place.takeSlot();
    const happened = deferred();
    const waiting = place.whileIdle(() => happened.promise);
    await expect(place.whileIdle(() => Promise.resolve())).rejects.toThrow('once at a time');
    happened.resolve();
    await waiting;
    expect(counts()).toEqual([1, 0]);
  });

  it('measures how long it waited, in all', async () => {
    place.takeSlot();
    expect(place.waited).toBe(0);
    for (let i = 0; i < 2; i++) await place.whileIdle(() => new Promise((resolve) => setTimeout(resolve, 30)));
    expect(place.waited).toBeGreaterThan(55);
  });

  it.each<[string, () => void]>([
    ['the response is closed', () => fake.emitter.emit('close')],
    ['the caller ends its side', () => fake.socket.emit('end')],
    [
      'the service stops',
      () => {
        inFlight.endWaits();
      },
    ],
  ])('has its wait told when %s, and leaves no listener behind', async (_when, happen) => {
    place.takeSlot();
    const waiting = place.whileIdle(
      (signal) => new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('told'))),
    );
    happen();
    expect(await waiting).toBe('told');
    expect([fake.emitter.listenerCount('close'), fake.socket.listenerCount('end')]).toEqual([0, 0]);
    expect(counts()).toEqual([1, 0]);
  });

  it.each<[string, () => void]>([
    ['the response was closed', () => Object.assign(fake.emitter, { closed: true })],
    ['the caller had ended its side', () => Object.assign(fake.socket, { readableEnded: true })],
    ['the connection was gone', () => Object.assign(fake.socket, { destroyed: true })],
    [
      'the service had begun to stop',
      () => {
        inFlight.endWaits();
      },
    ],
  ])('has its wait told at once where %s before', async (_when, happen) => {
    happen();
    place.takeSlot();
    expect(await place.whileIdle((signal) => Promise.resolve(signal.aborted))).toBe(true);
  });
});
