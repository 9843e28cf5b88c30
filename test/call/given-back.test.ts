import { ask, BINDINGS } from '../support/bindings';
import { send } from '../support/http';
import { expectNothingHeld } from '../support/nothing-held';
import { startService, type TestService } from '../support/service';
import { openWire, PATH, request } from '../support/wire';
import { untilWaiting } from '../support/waiting';

describe('with MAX_IN_FLIGHT=3', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService({ MAX_IN_FLIGHT: '3' });
  });
  afterEach(() => expectNothingHeld(service));

  const get = (query: string) => send(service.url + query);

  it.each([
    ['?event=7', 404],
    ['?events=rate&per=year', 400],
    ['?events&from=never', 400],
    ['?event=1&download=nothing', 404],
  ])('the page %s may fail more often than that, and gives back its slot each time', async (query, status) => {
    for (let i = 0; i < 5; i++) expect((await get(query)).status).toBe(status);
    expect((await get('?events')).status).toBe(200);
  });

  it.each(BINDINGS)('calls over %s may be refused more often than that', async (binding) => {
    const refused = () => ask(service.url, binding, 'GetEvents', { inside: '<limit>0</limit>', fields: 'limit=0' });
    for (let i = 0; i < 5; i++) expect([400, 500]).toContain((await refused()).status);
    expect((await get('/HelloWorld')).status).toBe(200);
  });
});

it.each(['resets', 'closes'])('pipelined calls give their places back if the caller %s the connection', async (how) => {
  const service = await startService({ MAX_CONNECTIONS: '6' });
  const wire = await openWire(service.url);
  wire.write(request(`GET ${PATH}/GetEvents?after=0&wait=60s`).repeat(5));
  await untilWaiting(service.url, 1);
  if (how === 'resets') wire.socket.resetAndDestroy();
  else wire.socket.end();
  await expectNothingHeld(service);
});
