import { JetStreamRecorder } from '../../../src/log/jetstream/recorder';
import { forgetEvents } from '../../../src/log/jetstream/removal';
import { fakeStreams } from '../../support/fake-streams';
import { newEvent } from '../../support/events';

it('an event is removed after its keys, so that a removal that failed can be repeated', async () => {
  const { events, keys, begin } = fakeStreams();
  const recorder = new JetStreamRecorder(begin);
  await recorder.record([newEvent({ id: 'personal', recordedAt: Date.now(), idempotencyKey: 'k' })]);
  await recorder.close();
  const eraseAll = jest
    .fn()
    .mockRejectedValueOnce(new Error('NATS did not answer in time'))
    .mockResolvedValue(undefined);
  Object.assign(keys, { eraseAll });
  await expect(forgetEvents(begin, [1], () => undefined)).rejects.toThrow('NATS did not answer in time');
  expect(events.messages).toHaveLength(1);
  expect(await forgetEvents(begin, [1], () => undefined)).toEqual([1]);
  expect(events.messages).toHaveLength(0);
  expect(eraseAll).toHaveBeenCalledTimes(2);
});
