import { SentEvent } from '../../../src/events/cloudevents/sent-event';

const REQUIRED = { specversion: '1.0', id: 'e-1', source: '/orders', type: 'order.placed' };

describe('a batch of CloudEvents in JSON', () => {
  it('becomes its events, in their order, with the data as it was written', () => {
    const first = `{"data" : {"n":12345678901234567890.10, "data":"]},{"} ,${JSON.stringify(REQUIRED).slice(1)}`;
    const second = JSON.stringify({ ...REQUIRED, id: 'e-2', data_base64: 'AP8=' });
    const third = JSON.stringify({ ...REQUIRED, id: 'e-3', subject: 'ä,"[' });
    expect(SentEvent.batched(` [ ${first},\n${second}\t, ${third} ] `)).toEqual([
      { attributes: REQUIRED, payload: { mediaType: undefined, json: '{"n":12345678901234567890.10, "data":"]},{"}' } },
      { attributes: { ...REQUIRED, id: 'e-2' }, payload: { mediaType: undefined, bytes: Buffer.from([0, 255]) } },
      { attributes: { ...REQUIRED, id: 'e-3', subject: 'ä,"[' }, payload: undefined },
    ]);
    expect(SentEvent.batched(' [\n] ')).toEqual([]);
  });

  it.each<[string, unknown[], RegExp]>([
    [
      'the first of two that are not valid',
      [{ ...REQUIRED, id: '' }, {}],
      /^Event 1 of the batch: .* id must not be empty/,
    ],
    [
      'an element that is not an object',
      [REQUIRED, [REQUIRED]],
      /^Event 2 of the batch: The CloudEvent is not a JSON object/,
    ],
  ])('is refused whole for %s, which is named', (_what, batch, problem) => {
    expect(() => SentEvent.batched(JSON.stringify(batch))).toThrow(problem);
  });

  it.each([
    ['a single event', JSON.stringify(REQUIRED)],
    ['something other than JSON', '[{]'],
  ])('is refused where it is %s', (_what, json) => {
    expect(() => SentEvent.batched(json)).toThrow('The batch of CloudEvents is not a JSON array.');
  });

  it('is refused with too many events or too many parts, before they are read', () => {
    expect(() => SentEvent.batched(`[${'0,'.repeat(10_000)}0]`)).toThrow(
      'has more than 10000 CloudEvents. Send at most 10000',
    );
    expect(() => SentEvent.batched(`[${'0,'.repeat(9_999)}0]`)).toThrow('Event 1 of the batch');
    const started = performance.now();
    expect(() => SentEvent.batched('['.repeat(4_000_000))).toThrow('more than 300,000 objects, arrays and members');
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
