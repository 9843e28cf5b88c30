import { PROPERTIES, rowOf } from '../../../src/log/sqlite/table';

describe('a row of the table of events', () => {
  it('has the values in the order of the columns', () => {
    const named = Object.fromEntries(PROPERTIES.map((property) => [property, property]));
    expect(rowOf(named as Parameters<typeof rowOf>[0])).toEqual(PROPERTIES);
  });
});
