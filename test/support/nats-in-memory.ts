import { JetStreamApiError, type ClusterInfo, type StoredMsg, type StreamConfig } from '@nats-io/jetstream';
import { millis } from '@nats-io/transport-node';
import type { JetStreamConnection } from '../../src/log/jetstream/connection';

type Kept = Pick<StoredMsg, 'seq' | 'subject' | 'time' | 'data'>;
type Query = Readonly<Record<'seq', number | undefined> & Record<'last_by_subj' | 'next_by_subj', string | undefined>>;

interface KeptStream {
  config: Partial<StreamConfig>;
  cluster?: Partial<ClusterInfo>;
  messages: Kept[];
  last: number;
}

/** Keeps the streams of event logs in memory, as a nats-server would. @param losesAnswers - the first to each request, which is sent again. */
export function natsInMemory({ losesAnswers = false } = {}) {
  const streams = new Map<string, KeptStream>();
  const consumers = { now: 0, most: 0 };
  const refused = (err_code: number) => new JetStreamApiError({ code: 400, err_code, description: 'refused' });
  const answer = <T>(request: () => T) => new Promise<T>((resolve) => resolve(request()));
  const on = (filter: string) => {
    const pattern = new RegExp(`^${filter.replace('*', '[^.]*').replace('>', '.*')}$`);
    return ({ subject }: Kept) => pattern.test(subject);
  };
  /** The stream, without what is past its limits. */
  const streamOf = (name: string): KeptStream => {
    const stream = streams.get(name);
    if (stream === undefined) throw refused(10059);
    const { max_msgs = -1, max_age = 0 } = stream.config;
    const isOver = ({ time }: Kept, i: number) =>
      (max_msgs > 0 && i < stream.messages.length - max_msgs) ||
      (max_age > 0 && Number(time) < Date.now() - millis(max_age));
    if (max_msgs + max_age > 0) stream.messages = stream.messages.filter((one, i) => !isOver(one, i));
    return stream;
  };
  const make = (name: string, config: Partial<StreamConfig> = {}) => {
    if (!streams.has(name)) streams.set(name, { config, messages: [], last: 0 });
    return streamOf(name);
  };
  const store = (name: string, subject: string, data: Uint8Array) => {
    const stream = streamOf(name);
    stream.messages.push({ seq: ++stream.last, subject, time: new Date(), data });
    return { seq: stream.last };
  };
  const remove = (name: string, isGone: (message: Kept) => boolean) => {
    const stream = streamOf(name);
    const kept = stream.messages.filter((one) => !isGone(one));
    const isAny = kept.length < stream.messages.length;
    stream.messages = kept;
    return isAny;
  };
  const connection = {
    client: {
      publish: (subject: string, data: Uint8Array, { expect }: { expect?: { lastSubjectSequence: number } }) =>
        answer(() => {
          const [name = ''] = subject.split('.');
          const last = streamOf(name).messages.findLast((one) => one.subject === subject)?.seq ?? 0;
          if (expect !== undefined && expect.lastSubjectSequence !== last) throw refused(10071);
          return store(name, subject, data);
        }),
    },
    manager: {
      streams: {
        add: ({ name = '', ...config }: Partial<StreamConfig>) => make(name, config),
        info: (name: string, { subjects_filter = '' } = {}) =>
          answer(() => {
            const { config, cluster, messages, last } = streamOf(name);
            const { seq = last + 1, time } = messages[0] ?? {};
            const bytes = messages.reduce((sum, { data }) => sum + data.length, 0);
            const subjects = Object.fromEntries(
              messages.filter(on(subjects_filter)).map(({ subject }) => [subject, 1]),
            );
            const state = {
              messages: messages.length,
              bytes,
              first_seq: seq,
              first_ts: time,
              last_seq: last,
              subjects,
            };
            return { config, cluster, state };
          }),
        getMessage(name: string, { seq = 1, last_by_subj: last, next_by_subj: next }: Query) {
          const { messages } = streamOf(name);
          const isOn = on(last ?? next ?? '>');
          if (last !== undefined) return messages.findLast(isOn) ?? null;
          return messages.find((one) => (next === undefined ? one.seq === seq : one.seq >= seq && isOn(one))) ?? null;
        },
        deleteMessage: (name: string, seq: number) =>
          answer(() => {
            if (!remove(name, (one) => one.seq === seq)) throw refused(10043);
          }),
        purge(name: string, { seq, filter = '>' }: { readonly seq: number; readonly filter?: string }) {
          const isOn = on(filter);
          return remove(name, (one) => one.seq < seq && isOn(one));
        },
      },
      consumers: {
        add(name: string, { opt_start_time }: { readonly opt_start_time: string }) {
          consumers.most = Math.max(consumers.most, ++consumers.now);
          const { messages, last } = streamOf(name);
          const later = messages.filter(({ time }) => Number(time) >= Date.parse(opt_start_time));
          return { delivered: { stream_seq: (later[0]?.seq ?? last + 1) - 1 }, num_pending: later.length };
        },
        delete: () => Promise.resolve(consumers.now--),
      },
    },
    async retry(deadline: number, request: () => Promise<unknown>): Promise<unknown> {
      if (losesAnswers) await request();
      try {
        return await request();
      } catch (error) {
        if (error instanceof JetStreamApiError || performance.now() > deadline) throw error;
        return connection.retry(deadline, request);
      }
    },
    deadline: () => performance.now() + 5000,
    maxPayload: () => 32 * 1024 * 1024,
    close: () => Promise.resolve(),
  } as unknown as JetStreamConnection;
  return { connection, consumers, streams, make, store };
}
