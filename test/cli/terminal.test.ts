import { eventLine } from '../../src/cli/terminal';
import type { StoredEvent } from '../../src/events/stored-event';
import { newEvent } from '../support/events';

const line = (given: Partial<StoredEvent>) =>
  eventLine({ ...newEvent({ recordedAt: Date.UTC(2026, 10, 22, 14, 2, 7, 123) }), position: 17, ...given });
const typed = (type: string) => ({ attributes: JSON.stringify({ specversion: '1.0', id: 'a', source: '/s', type }) });
const from = (remoteAddress: string, more = {}) => ({ arrival: JSON.stringify({ remoteAddress, ...more }) });

describe('an event on one line', () => {
  it.each<[string, Partial<StoredEvent>, string]>([
    [
      'its time, sequence, type, size of data and address',
      { ...typed('com.github.push'), data: `"data":"${'x'.repeat(12_345)}"`, ...from('192.0.2.1') },
      'com.github.push            12.1 KiB  192.0.2.1',
    ],
    ['a dash for what it does not have', {}, 'test                              –  –'],
    ['a sender by name', from('::1', { 'webhook-sender': 'stripe' }), 'test                              –  stripe'],
    [
      'nothing of a sender that a terminal would act on',
      { ...typed('a\u001b]0;x\u0007\nb\u202e'), ...from('\u009b2J') },
      'a\\u001b]0;x\\u0007\\nb\\u202e                        –  \\u009b2J',
    ],
  ])('has %s', (_what, given, shown) => {
    expect(line(given)).toBe(`2026-11-22 14:02:07.123       17  ${shown}`);
  });

  it('cuts a long type', () => {
    expect(line(typed('t'.repeat(5000))).length).toBeLessThan(300);
  });
});
