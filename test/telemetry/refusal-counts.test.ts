import { RefusalCounts, Refusals } from '../../src/telemetry/refused-calls';

const listOf = (counts: RefusalCounts) => new Refusals([], counts.list());

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('the numbers of refused calls', () => {
  it('are those of each minute, hour and day', () => {
    const counts = new RefusalCounts();
    for (const time of [DAY - 1, DAY, DAY + 1, DAY + MINUTE, DAY + HOUR]) counts.add(time);
    const list = listOf(counts);
    expect([DAY - MINUTE, DAY, DAY + MINUTE].map((from) => list.callsIn('minute', from))).toEqual([1, 2, 1]);
    expect([DAY - HOUR, DAY, DAY + HOUR].map((from) => list.callsIn('hour', from))).toEqual([1, 3, 1]);
    expect([0, DAY, 2 * DAY].map((from) => list.callsIn('day', from))).toEqual([1, 4, 0]);
  });

  it('of the last hour are those of 60 minutes, the current one among them', () => {
    const counts = new RefusalCounts();
    const now = DAY + 30_000;
    for (const minutes of [60, 59, 0]) counts.add(DAY - minutes * MINUTE);
    expect(listOf(counts).callsOfLastHour(now)).toBe(2);
  });

  it('do not have what a clock counted that was ahead', () => {
    const counts = new RefusalCounts();
    const now = DAY + 30_000;
    for (let i = 0; i < 10; i++) counts.add(now + 5 * MINUTE);
    expect(listOf(counts).callsOfLastHour(now)).toBe(0);
    for (let i = 0; i < 50; i++) counts.add(now);
    expect(listOf(counts).callsOfLastHour(now)).toBe(50);
    expect(listOf(counts).callsOfLastHour(now + 5 * MINUTE)).toBe(50);
  });

  it('take no more room after a year', () => {
    const counts = new RefusalCounts();
    for (let time = 0; time < 365 * DAY; time += 7 * MINUTE) counts.add(time);
    const list = listOf(counts);
    expect(list.counts.length).toBe(60 + 48 + 30);
    expect(list.callsIn('day', 364 * DAY)).toBeGreaterThan(200);
    expect(list.callsIn('day', 0)).toBe(0);
  });
});
