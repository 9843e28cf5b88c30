import { JetStreamRecorder } from '../../../src/log/jetstream/recorder';
import { eventually } from '../../support/eventually';
import { fakeStreams } from '../../support/fake-streams';
import { newEvent } from '../../support/events';

describe('a claim that cannot be settled at first', () => {
  const event = (key: string) => newEvent({ id: 'same', source: '/own', recordedAt: Date.now(), idempotencyKey: key });
  const copies = ({ messages }: ReturnType<typeof fakeStreams>['keys']) =>
    messages.filter(({ data }) => Buffer.from(data).toString().includes('"webhookEvent"'));

  it('is erased as soon as that works, if it is of a repeat: nothing names its key once the event is removed', async () => {
    const { keys, begin } = fakeStreams();
    const recorder = new JetStreamRecorder(begin);
    await recorder.record([event('first')]);
    const erase = jest.spyOn(keys, 'erase');
    for (let i = 0; i < 3; i++) erase.mockRejectedValueOnce(new Error('NATS did not answer in time'));
    expect(await recorder.record([event('second')])).toEqual([{ id: 'same', recorded: false }]);
    expect(copies(keys)).toHaveLength(2);
    await eventually('its copy is gone', () => copies(keys).length === 1);
    expect(erase).toHaveBeenCalledTimes(4);
    await recorder.close();
  });

  it('gets its reference as soon as that works', async () => {
    const { keys, begin } = fakeStreams();
    const recorder = new JetStreamRecorder(begin);
    const put = keys.put.bind(keys);
    const putAgain = jest.spyOn(keys, 'put').mockImplementationOnce(put).mockRejectedValueOnce(new Error('too late'));
    expect(await recorder.record([event('first')])).toEqual([{ id: 'same', recorded: true }]);
    expect(keys.messages).toHaveLength(1);
    await eventually('its reference is there', () => keys.messages.length === 2);
    expect(putAgain).toHaveBeenCalledTimes(3);
    // Another event under the key is a repeat.
    const other = newEvent({ id: 'other', source: '/own', recordedAt: Date.now(), idempotencyKey: 'first' });
    expect(await recorder.record([other])).toEqual([{ id: 'same', recorded: false }]);
    await recorder.close();
  });

  it('is left when the log is closed, which waits for the try in progress alone', async () => {
    const { keys, begin } = fakeStreams();
    const recorder = new JetStreamRecorder(begin);
    await recorder.record([event('first')]);
    const erase = jest.spyOn(keys, 'erase').mockRejectedValue(new Error('NATS did not answer in time'));
    await recorder.record([event('second')]);
    await eventually('it is tried often', () => erase.mock.calls.length === 4);
    const began = performance.now();
    await recorder.close();
    expect(performance.now() - began).toBeLessThan(500);
    expect(erase.mock.calls.length).toBeLessThanOrEqual(5);
  });
});
