import { eventLine } from '../../src/cli/terminal';
import type { StoredEvent } from '../../src/events/stored-event';
import { newEvent } from '../support/events';

const line = (given: Partial<StoredEvent>) =>
  eventLine({ ...newEvent({ recordedAt: Date.UTC(2026, 10, 22, 14, 2, 7, 123) }), position: 17, ...given });

const attributes = (type: string) => JSON.stringify({ specversion: '1.0', id: 'a', source: '/s', type });

describe('an event on one line', () => {
  it('has its time, its sequence, its type, the size of its data and its sender', () => {
    const data = `"data":"${'x'.repeat(12_345)}"`;
    const arrival = '{"method":"POST","remoteAddress":"192.0.2.1"}';
    expect(line({ attributes: attributes('com.github.push'), data, arrival })).toBe(
      '2026-11-22 14:02:07.123       17  com.github.push            12.1 KiB  192.0.2.1',
    );
    expect(line({ arrival: '{"webhook-sender":"github","remoteAddress":"192.0.2.1"}' })).toMatch(/ {2}github$/);
  });

  it('shows what it does not have as a dash', () => {
    expect(line({})).toBe('2026-11-22 14:02:07.123       17  test                              –  –');
  });

  it('shows nothing of a sender that a terminal would act on, and stays one line', () => {
    const shown = line({
      attributes: attributes('a\u001b]0;x\u0007\nb\u202e'),
      arrival: JSON.stringify({ remoteAddress: '\u009b2J' }),
    });
    expect(shown).toContain('a\\u001b]0;x\\u0007\\nb\\u202e');
    expect(shown).toMatch(/ {2}\\u009b2J$/);
  });

  it('cuts a long type', () => {
    expect(line({ attributes: attributes('t'.repeat(5000)) }).length).toBeLessThan(300);
  });
});
