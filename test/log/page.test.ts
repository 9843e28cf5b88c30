import type { EventQuery } from '../../src/log/queries';
import { Page, sizeOf } from '../../src/log/page';

const query = (given: Partial<EventQuery>): EventQuery => ({
  limit: 100,
  maxBytes: 100,
  ...given,
});

/** What a page says of one event after the other, each given as the bytes of its attributes and of its data. */
const fill = (given: Partial<EventQuery>, ...events: (readonly [attributes: number, data: number])[]) => {
  const page = new Page(query(given));
  return events.map(([attributesBytes, dataBytes]) => page.take({ attributesBytes, dataBytes }));
};

it('the size of an event is that of its attributes and its data in UTF-8', () => {
  const attributes = '{"id":"é"}';
  const attributesBytes = attributes.length + 1;
  expect(sizeOf({ attributes, data: undefined })).toEqual({ attributesBytes, dataBytes: 0 });
  const data = '"data":"<é>"';
  expect(sizeOf({ attributes, data })).toEqual({ attributesBytes, dataBytes: data.length + 1 });
});

describe('a page of events', () => {
  it('is full after as many events as its limit says', () => {
    expect(fill({ limit: 2 }, [1, 0], [1, 0], [1, 0])).toEqual(['whole', 'whole', 'full']);
  });

  it('is full once its events have more bytes than its query says', () => {
    expect(fill({ maxBytes: 20 }, [10, 0], [5, 5], [1, 0], [1, 0])).toEqual(['whole', 'whole', 'whole', 'full']);
    expect(fill({ maxBytes: 20 }, [10, 0], [10, 10], [1, 0])).toEqual(['whole', 'whole', 'full']);
  });

  it('has an event that has more bytes by itself without its data', () => {
    expect(fill({ maxBytes: 100 }, [50, 50])).toEqual(['whole']);
    expect(fill({ maxBytes: 100 }, [50, 51], [50, 1], [1, 0])).toEqual(['without data', 'whole', 'full']);
  });

  it.each<[string, Partial<EventQuery>]>([
    ['id', { id: 'e-1' }],
    ['position', { position: 7 }],
  ])('has the first event that was asked for by its %s whole, however long it is', (_name, wanted) => {
    expect(fill({ ...wanted, maxBytes: 100 }, [90, 1000], [1, 0])).toEqual(['whole', 'full']);
    expect(fill({ ...wanted, maxBytes: 100 }, [10, 0], [70, 1000], [1, 0])).toEqual(['whole', 'without data', 'whole']);
  });
});
