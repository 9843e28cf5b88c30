import { ask, BINDINGS, callOperation, eventsOf, newestEvents, resultOf, type BindingName } from '../support/bindings';
import { forgetAll, newEvent } from '../support/events';
import { useService } from '../support/service';
import { getEvents, untilWaiting } from '../support/waiting';

const event = (type: string, id: string) =>
  newEvent({ id, attributes: JSON.stringify({ specversion: '1.0', id, source: '/test', type }) });

describe('GetEvents with type', () => {
  const service = useService();
  afterEach(() => forgetAll(service.log));

  const found = async (binding: BindingName, parameters: Readonly<Record<string, string>>) =>
    eventsOf(resultOf(await getEvents(service.url, binding, parameters))).map(({ id }) => id);
  const sequences = async () => (await newestEvents(service.url)).map(({ sequence }) => sequence);
  const record = (...types: readonly string[]) =>
    service.log.append(...types.map((type, i) => event(type, `${type}${String(i + 1)}`)));

  it.each(BINDINGS)('over %s returns the events of that type, with after and limit', async (binding) => {
    await record('a', 'b', 'a', 'a', 'ab', 'b', 'a');
    const [first = '', last = ''] = [(await sequences())[0], (await sequences()).at(-1)];
    expect(await found(binding, { type: 'a' })).toEqual(['a1', 'a3', 'a4', 'a7']);
    expect(await found(binding, { type: 'a', limit: '2' })).toEqual(['a4', 'a7']);
    expect(await found(binding, { type: 'a', limit: '2', after: first })).toEqual(['a3', 'a4']);
    expect(await found(binding, { type: 'a', after: last })).toEqual([]);
    expect(await found(binding, { type: 'A' })).toEqual([]);
    await record('ab.c', 'ab', 'ab.d');
    expect(await found(binding, { type: 'ab.*' })).toEqual(['ab.c1', 'ab.d3']);
  });

  it.each(['', 'after'])('waits until there is an event of that type: %j', async (name) => {
    await record('b', 'c');
    const [after = ''] = (await sequences()).slice(-1);
    const answer = found('httpget', { type: 'a', wait: '20s', ...(name && { after }) });
    await untilWaiting(service.url, 1);
    await record('b', 'c', 'b');
    await untilWaiting(service.url, 1);
    await record('b', 'a');
    expect(await answer).toEqual(['a2']);
  });

  it.each([
    [{ type: '' }, 'The parameter type must be given with a value.'],
    [{ type: 'a', id: 'b' }, 'The parameter type must be given without the parameters id and sequence.'],
    [{ type: 'a', sequence: '1' }, 'The parameter type must be given without the parameters id and sequence.'],
  ])('refuses %j', async (parameters, message) => {
    const answer = await getEvents(service.url, 'httpget', parameters);
    expect([answer.status, answer.body.trim()]).toEqual([400, message]);
  });

  it.each(BINDINGS)('over %s refuses a name that is no parameter, and names those that there are', async (binding) => {
    const answer = await getEvents(service.url, binding, { types: 'x', limit: '1' });
    expect(answer.status).toBe(binding.startsWith('soap') ? 500 : 400);
    expect(answer.body).toContain(
      'There is no parameter types. The parameters are after, limit, id, sequence, wait, type.',
    );
  });

  it('refuses them among the members of JSON, too, and ignores other names', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const statusOf = async (fields: string) =>
      (await ask(service.url, 'httppost', 'GetEvents', { fields, headers })).status;
    expect([await statusOf('{"text":"x"}'), await statusOf('{"colour":"x"}')]).toEqual([400, 200]);
    expect(await callOperation(service.url, 'soap12', 'GetEvents', '<colour>x</colour>')).toBe('[]');
  });
});
