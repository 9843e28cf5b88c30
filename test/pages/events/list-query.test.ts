import { addressQuery, filterValues, listQuery } from '../../../src/pages/events/list-query';

const read = (query: string) => listQuery(new URLSearchParams(query));

describe('the address of a list', () => {
  it('says what to look for, and where', () => {
    const times = 'from=2026-11-22T14:02&to=2026-11-22T14:03:04Z';
    expect(read(`events&text=a+b&binding=soap11&type=t&sender=::1&${times}&before=00017`)).toEqual({
      filter: {
        text: 'a b',
        binding: 'soap11',
        type: 't',
        sender: '::1',
        from: Date.UTC(2026, 10, 22, 14, 2),
        to: Date.UTC(2026, 10, 22, 14, 3, 4),
      },
      place: { before: 17, after: undefined },
      problem: undefined,
      invalid: {},
    });
  });

  it.each(['192.0.2.1', '::1', '_hidden', 'unknown', 'host.example'])('may look for the address %s', (sender) => {
    expect(read(`sender=${sender}&binding=SOAP11&fromsender=GitHub`)).toMatchObject({
      filter: { sender, binding: 'soap11', fromSender: 'github' },
      problem: undefined,
    });
  });

  it('may have empty parameters, as a form sends them', () => {
    expect(Object.values(read('events=&text=&binding=&type=&sender=&from=&to=').filter)).toEqual(
      Array(6).fill(undefined),
    );
  });

  it.each([
    ['from=yesterday', 'from must be a time such as 2026-11-22T14:02:00Z: yesterday'],
    ['to=2026-02-30T10:00', 'to must be a time such as 2026-11-22T14:02:00Z: 2026-02-30T10:00'],
    ['binding=soap', 'binding must be one of soap11, soap12, httpget, httppost: soap'],
    ['sender=github', 'sender must be an address; fromsender names a sender: github'],
    ['fromsender=githab', /^fromsender must be one of github, .*standard-webhooks.*: githab$/],
    ['before=-1', 'before must be a position: -1'],
    ['after=1e3', 'after must be a position: 1e3'],
    [
      'from=2026-11-22T14:02&to=2026-11-22T14:02',
      'from must be a time before to, which is 2026-11-22 14:02:00.000 UTC',
    ],
    [`text=${'x'.repeat(201)}`, `text must be at most 200 characters: ${'x'.repeat(200)}…`],
  ])('%s is refused', (query, problem) => {
    expect(read(query).problem).toMatch(problem);
  });

  it('is made from what it says', () => {
    const { filter } = read('text=a%26b%3D<&from=2026-11-22T14:02:05.5Z&to=2026-11-22T14:02');
    const query = addressQuery({ events: '', ...filterValues(filter), before: 17 });
    expect(query).toBe('events&text=a%26b%3D%3C&from=2026-11-22T14%3A02%3A05.500&to=2026-11-22T14%3A02&before=17');
    expect(read(query).filter).toEqual(filter);
  });
});
