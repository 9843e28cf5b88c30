import { reasonOf } from '../../src/util/errors';

it('why no address of a host can be reached is said of the first', () => {
  const refused = (address: string) => Object.assign(new Error(), { code: 'ECONNREFUSED', address, port: 80 });
  expect(reasonOf(new AggregateError([refused('::1'), refused('127.0.0.1')]))).toBe(
    'nothing listens at ::1 on port 80',
  );
});
