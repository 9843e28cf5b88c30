import type { EventQuery } from '../../src/log/event-log';
import { Page, sizeOf } from '../../src/log/page';

const query = (given: Partial<EventQuery>): EventQuery => ({
  id: undefined,
  position: undefined,
  after: undefined,
  limit: 100,
  maxBytes: 100,
  referenceBytes: 10,
  ...given,
});

/** What a page says of one event after the other, each given as the bytes of its head and of its data. */
const fill = (given: Partial<EventQuery>, ...events: (readonly [head: number, data: number])[]) => {
  const page = new Page(query(given));
  return events.map(([headBytes, dataBytes]) => page.take({ headBytes, dataBytes }));
};

describe('the size of an event', () => {
  it('is that of its attributes, of its position in 20 digits, and of its data with a comma', () => {
    const attributes = '{"id":"1"}';
    const data = '"data":"<é>"';
    expect(sizeOf({ attributes, data: undefined })).toEqual({
      headBytes: ('{\\"id\\":\\"1\\"}' + `,"sequence":"${'0'.repeat(20)}"`).length - 4,
      dataBytes: 0,
    });
    const member = `,"sequence":"${'0'.repeat(20)}"`.length;
    expect(sizeOf({ attributes, data }).headBytes).toBe(attributes.length + member);
    // The markup is escaped in XML, é has two bytes.
    expect(sizeOf({ attributes, data }).dataBytes).toBe('"data":"&lt;..&gt;"'.length + 1);
  });
});

describe('a page of events', () => {
  it('is full after as many events as its limit says', () => {
    expect(fill({ limit: 2 }, [1, 0], [1, 0], [1, 0])).toEqual(['whole', 'whole', 'full']);
  });

  it('counts a comma for each event', () => {
    expect(fill({ maxBytes: 22 }, [10, 0], [10, 0], [1, 0])).toEqual(['whole', 'whole', 'full']);
    expect(fill({ maxBytes: 21 }, [10, 0], [10, 0])).toEqual(['whole', 'full']);
  });

  it('takes an event that fills it to the last byte whole', () => {
    expect(fill({ maxBytes: 100 }, [49, 50])).toEqual(['whole']);
  });

  it('takes an event that is longer than a page without its data', () => {
    expect(fill({ maxBytes: 100 }, [50, 50])).toEqual(['without data']);
    // Head, reference and comma take 50 + 10 + 1.
    expect(fill({ maxBytes: 100 }, [50, 50], [30, 8], [1, 0])).toEqual(['without data', 'whole', 'full']);
    expect(fill({ maxBytes: 100 }, [50, 50], [30, 9])).toEqual(['without data', 'full']);
  });

  it('has no room for the reference to an event either', () => {
    expect(fill({ maxBytes: 100 }, [38, 0], [50, 50])).toEqual(['whole', 'without data']);
    expect(fill({ maxBytes: 100 }, [39, 0], [50, 50])).toEqual(['whole', 'full']);
  });

  it('is full for an event that another page has room for, and stays so', () => {
    expect(fill({ maxBytes: 100 }, [60, 0], [40, 0], [38, 0])).toEqual(['whole', 'full', 'whole']);
  });

  it.each<[string, Partial<EventQuery>]>([
    ['id', { id: 'e-1' }],
    ['position', { position: 7 }],
  ])('has the first event that was asked for by its %s whole, however long it is', (_name, wanted) => {
    expect(fill({ ...wanted, maxBytes: 100 }, [90, 1000])).toEqual(['whole']);
    expect(fill({ ...wanted, maxBytes: 100 }, [90, 1000], [1, 0])).toEqual(['whole', 'full']);
    expect(fill({ ...wanted, maxBytes: 100 }, [10, 0], [80, 1000])).toEqual(['whole', 'full']);
    expect(fill({ ...wanted, maxBytes: 100 }, [10, 0], [70, 1000])).toEqual(['whole', 'without data']);
  });
});
