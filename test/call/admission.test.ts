import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Admission, Ticket } from '../../src/call/admission';
import { Deferred } from '../../src/util/promises';

/** As much of a response as a ticket listens to. */
function fakeResponse() {
  const socket = Object.assign(new EventEmitter(), { destroyed: false, readableEnded: false });
  const response = Object.assign(new EventEmitter(), { closed: false, req: { socket } });
  return { socket, response: response as unknown as ServerResponse, emitter: response };
}

describe('the ticket of a call', () => {
  let calls: Admission;
  let fake: ReturnType<typeof fakeResponse>;
  let ticket: Ticket;
  beforeEach(() => {
    calls = new Admission({ maxInFlight: 2, maxConnections: 2 });
    fake = fakeResponse();
    ticket = new Ticket(calls, fake.response);
  });

  const counts = () => [calls.inFlight, calls.waits.size];
  /** The ticket of another call, which has a slot. */
  const another = () => {
    const other = new Ticket(calls, fakeResponse().response);
    other.takeSlot();
    return other;
  };
  it('is given back once, however often that is asked for', () => {
    ticket.takeSlot();
    expect(counts()).toEqual([1, 0]);
    ticket.giveBack();
    ticket.giveBack();
    expect(counts()).toEqual([0, 0]);
  });

  it('of a caller who has proved nothing is one of a quarter, until it waits or is given back', async () => {
    const many = new Admission({ maxInFlight: 8, maxConnections: 2 });
    const tickets = Array.from({ length: 4 }, () => new Ticket(many, fakeResponse().response));
    const [first, second, third, proved] = tickets as [Ticket, Ticket, Ticket, Ticket];
    first.takeSlot(true);
    second.takeSlot(true);
    expect(() => third.takeSlot(true)).toThrow('of callers without a valid key');
    proved.takeSlot();
    const happened = new Deferred();
    const waiting = first.whileIdle(() => happened.promise);
    third.takeSlot(true);
    happened.resolve();
    await waiting;
    for (const one of tickets) one.giveBack();
    expect([many.inFlight, many.unproved]).toEqual([0, 0]);
  });

  it('that was never taken gives back nothing', () => {
    ticket.giveBack();
    expect(counts()).toEqual([0, 0]);
  });

  it('gives back the slot while it waits, and takes it again afterwards', async () => {
    ticket.takeSlot();
    const happened = new Deferred<string>();
    const waiting = ticket.whileIdle(() => happened.promise);
    expect(counts()).toEqual([0, 1]);
    happened.resolve('it');
    expect(await waiting).toBe('it');
    expect(counts()).toEqual([1, 0]);
    ticket.giveBack();
    expect(counts()).toEqual([0, 0]);
  });

  it('takes the slot again although all of them are taken', async () => {
    ticket.takeSlot();
    const happened = new Deferred();
    const waiting = ticket.whileIdle(() => happened.promise);
    another();
    another();
    happened.resolve();
    await waiting;
    expect(counts()).toEqual([3, 0]);
    expect(another).toThrow('MAX_IN_FLIGHT');
  });

  it('is given back once where the wait fails, at once or later', async () => {
    ticket.takeSlot();
    await expect(ticket.whileIdle(() => Promise.reject(new Error('later')))).rejects.toThrow('later');
    const atOnce = (): never => {
      throw new Error('at once');
    };
    await expect(ticket.whileIdle(atOnce)).rejects.toThrow('at once');
    expect(counts()).toEqual([1, 0]);
    ticket.giveBack();
    expect(counts()).toEqual([0, 0]);
  });

  it('is given back once where the call ends while it waits', async () => {
    ticket.takeSlot();
    const happened = new Deferred();
    const waiting = ticket.whileIdle(() => happened.promise);
    ticket.giveBack();
    expect(counts()).toEqual([0, 1]);
    happened.resolve();
    await waiting;
    expect(counts()).toEqual([0, 0]);
  });

  it('is kept where too many wait already', async () => {
    for (let i = 0; i < 2; i++) void another().whileIdle(() => new Promise(() => undefined));
    ticket.takeSlot();
    await expect(ticket.whileIdle(() => Promise.resolve())).rejects.toMatchObject({
      status: 503,
      refusal: 'busy',
      message: 'Too many calls wait for events: more than 2, four fifths of MAX_CONNECTIONS.',
      headers: { 'Retry-After': '1' },
    });
    expect(counts()).toEqual([1, 2]);
    ticket.giveBack();
    expect(counts()).toEqual([0, 2]);
  });

  it('cannot wait twice at a time, nor without a slot', async () => {
    await expect(ticket.whileIdle(() => Promise.resolve())).rejects.toThrow('only while it is in progress');
    ticket.takeSlot();
    const happened = new Deferred();
    const waiting = ticket.whileIdle(() => happened.promise);
    await expect(ticket.whileIdle(() => Promise.resolve())).rejects.toThrow('once at a time');
    happened.resolve();
    await waiting;
    expect(counts()).toEqual([1, 0]);
  });

  it('measures how long it waited, in all', async () => {
    ticket.takeSlot();
    expect(ticket.waited).toBe(0);
    for (let i = 0; i < 2; i++) await ticket.whileIdle(() => new Promise((resolve) => setTimeout(resolve, 30)));
    expect(ticket.waited).toBeGreaterThan(55);
  });

  it.each<[string, () => void]>([
    ['the response is closed', () => fake.emitter.emit('close')],
    ['the caller ends its side', () => fake.socket.emit('end')],
    [
      'the service stops',
      () => {
        calls.endWaits();
      },
    ],
  ])('has its wait told when %s, and leaves no listener behind', async (_when, happen) => {
    ticket.takeSlot();
    const waiting = ticket.whileIdle(
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
        calls.endWaits();
      },
    ],
  ])('has its wait told at once where %s before', async (_when, happen) => {
    happen();
    ticket.takeSlot();
    expect(await ticket.whileIdle((signal) => Promise.resolve(signal.aborted))).toBe(true);
  });
});
