import { nanos } from '@nats-io/transport-node';
import { requireMajority } from '../../../src/log/jetstream/probe';

type Info = Parameters<typeof requireMajority>[0];

/** A stream with this many replicas, of which the leader and this many followers answer. */
function stream(replicas: number, connected: number): Info {
  const followers = Array.from({ length: replicas - 1 }, (_, i) => ({
    name: String(i),
    current: true,
    offline: i >= connected && i % 2 === 0,
    active: nanos(i >= connected ? 60_000 : 100),
  }));
  return {
    cluster: { name: 'c', leader: 'l', replicas: followers },
    config: { num_replicas: replicas },
  } as unknown as Info;
}

it.each([
  [1, 0],
  [2, 1],
  [3, 1],
  [4, 2],
  [5, 2],
])('of %d replicas the leader and %d others are a majority', (replicas, connected) => {
  expect(() => requireMajority(stream(replicas, connected))).not.toThrow();
});

it.each([
  [2, 0],
  [3, 0],
  [4, 1],
  [5, 1],
])('of %d replicas the leader and %d others are none', (replicas, connected) => {
  expect(() => requireMajority(stream(replicas, connected))).toThrow(
    `of ${String(replicas)} replicas ${String(connected + 1)} answer`,
  );
});
