import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Admission, Ticket } from '../../src/call/admission';
import { Deferred } from '../../src/util/promises';

/** As much of a response as a ticket listens to. */
function fakeResponse() {
  const socket = Object.assign(new EventEmitter(), { destroyed: false, readableEnded: false });
  return Object.assign(new EventEmitter(), { closed: false, req: { socket } });
}

describe('the ticket of a call', () => {
  let calls: Admission;
  let response: ReturnType<typeof fakeResponse>;
  let ticket: Ticket;
  beforeEach(() => {
    calls = new Admission({ maxInFlight: 8, maxConnections: 5 });
    response = fakeResponse();
    ticket = ticketFor(response);
  });

  const ticketFor = (one: ReturnType<typeof fakeResponse>) => new Ticket(calls, one as unknown as ServerResponse);
  const counts = () => [calls.inFlight, calls.waits.size];
  /** Takes the slots of other calls. */
  const others = (count: number, isUnproved = false) =>
    Array.from({ length: count }, () => {
      const other = ticketFor(fakeResponse());
      other.takeSlot(isUnproved);
      return other;
    });
  /** Lets a call wait until it is told. */
  const waitWith = (one: Ticket) => {
    const happened = new Deferred();
    const waiting = one.whileIdle(() => happened.promise);
    return () => {
      happened.resolve();
      return waiting;
    };
  };

  it('is given back once, however often that is asked for, and only if it was taken', () => {
    ticket.giveBack();
    expect(counts()).toEqual([0, 0]);
    ticket.takeSlot();
    expect(counts()).toEqual([1, 0]);
    ticket.giveBack();
    ticket.giveBack();
    expect(counts()).toEqual([0, 0]);
  });

  it('of a caller who has proved nothing is one of a quarter, until it waits as one of another, or is given back', async () => {
    const unproved = others(2, true);
    expect(() => others(1, true)).toThrow('of callers without a valid key');
    others(1);
    const ends = unproved.map(waitWith);
    const [third] = others(1, true) as [Ticket];
    await expect(third.whileIdle(() => Promise.resolve())).rejects.toThrow('waiting calls of callers without');
    for (const end of ends) await end();
    for (const one of [third, ...unproved]) one.giveBack();
    expect([calls.inFlight, calls.unproved, calls.unprovedWaits]).toEqual([1, 0, 0]);
  });

  it('gives back the slot while it waits, and takes it again although all of them are taken', async () => {
    ticket.takeSlot();
    const end = waitWith(ticket);
    expect(counts()).toEqual([0, 1]);
    others(8);
    expect(() => others(1)).toThrow('MAX_IN_FLIGHT');
    await end();
    expect(counts()).toEqual([9, 0]);
    expect(() => others(1)).toThrow('MAX_IN_FLIGHT');
    ticket.giveBack();
    expect(counts()).toEqual([8, 0]);
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
    const end = waitWith(ticket);
    ticket.giveBack();
    expect(counts()).toEqual([0, 1]);
    await end();
    expect(counts()).toEqual([0, 0]);
  });

  it('is kept where too many wait already', async () => {
    for (const other of others(5)) waitWith(other);
    ticket.takeSlot();
    await expect(ticket.whileIdle(() => Promise.resolve())).rejects.toMatchObject({
      status: 503,
      category: 'busy',
      message: 'Too many calls wait for events: more than 5, nine tenths of MAX_CONNECTIONS.',
      headers: { 'Retry-After': '1' },
    });
    expect(counts()).toEqual([1, 5]);
    ticket.giveBack();
    expect(counts()).toEqual([0, 5]);
  });

  it('cannot wait twice at a time, nor without a slot', async () => {
    await expect(ticket.whileIdle(() => Promise.resolve())).rejects.toThrow('only while it is in progress');
    ticket.takeSlot();
    const end = waitWith(ticket);
    await expect(ticket.whileIdle(() => Promise.resolve())).rejects.toThrow('once at a time');
    await end();
    expect(counts()).toEqual([1, 0]);
  });

  it('measures how long it waited, in all', async () => {
    ticket.takeSlot();
    expect(ticket.waited).toBe(0);
    for (let i = 0; i < 2; i++) await ticket.whileIdle(() => new Promise((resolve) => setTimeout(resolve, 30)));
    expect(ticket.waited).toBeGreaterThan(55);
  });

  const stop = () => {
    calls.endWaits();
  };
  it.each<[string, happens: () => unknown, happened: () => unknown]>([
    ['the response is closed', () => response.emit('close'), () => Object.assign(response, { closed: true })],
    [
      'the caller ends its side',
      () => response.req.socket.emit('end'),
      () => Object.assign(response.req.socket, { readableEnded: true }),
    ],
    ['the connection is gone', () => response.emit('close'), () => (response.req.socket.destroyed = true)],
    ['the service stops', stop, stop],
  ])(
    'has its wait told when %s, or if that was before, and leaves no listener behind',
    async (_when, happens, happened) => {
      ticket.takeSlot();
      const aborted = new Deferred();
      const waiting = ticket.whileIdle((signal) => {
        signal.addEventListener('abort', () => {
          aborted.resolve();
        });
        return aborted.promise;
      });
      happens();
      await waiting;
      expect([response.listenerCount('close'), response.req.socket.listenerCount('end')]).toEqual([0, 0]);
      expect(counts()).toEqual([1, 0]);
      happened();
      expect(await ticket.whileIdle((signal) => Promise.resolve(signal.aborted))).toBe(true);
    },
  );
});
