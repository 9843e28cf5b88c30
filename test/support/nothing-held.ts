import { MessageMemory } from '../../src/http/content/message-memory';
import { eventually } from './eventually';
import { closeIdle } from './http';
import { metricOf } from './metrics';
import { running, type TestService } from './service';
import { destroyWires } from './wire';

/** What an earlier test file has left open in this process is not looked for again. */
const SOCKETS_BEFORE = openSockets();

const HELD = ['webhook_calls_in_flight', 'webhook_calls_waiting', 'webhook_connections'];

/** Where the services of this test file have counted large bodies and answers: no metric has these bytes. */
const MEMORIES = new Set<MessageMemory>();
const resize = Reflect.get(MessageMemory.prototype, 'resize');
MessageMemory.prototype.resize = function (...given) {
  MEMORIES.add(this);
  return resize.apply(this, given);
};
afterAll(() => (MessageMemory.prototype.resize = resize));

/** What one test leaves behind fails that test alone, not those of the file that follow. */
let hasFailed = false;

/**
 * Ends a test of what callers take: no call is in flight or waits, no bytes of bodies or answers count, and no connection is
 * open; after the service has stopped, this process has no socket open. Stops the service.
 */
export async function expectNothingHeld(service: TestService): Promise<void> {
  if (hasFailed) {
    await service.stop();
    return;
  }
  hasFailed = true;
  closeIdle();
  await eventually('nothing is in flight, waits or is connected', async () => {
    const held = await Promise.all(HELD.map((name) => metricOf(service.app, name)));
    return held.every((value) => value === 0);
  });
  await noBytesHeld();
  await service.stop();
  await eventually('no socket is open', () => openSockets() <= SOCKETS_BEFORE);
  hasFailed = false;
}

/** Ends each test of a file so. */
export function expectNothingHeldAfterEach(): void {
  afterEach(async () => {
    destroyWires();
    const [service, ...others] = running;
    await Promise.all(others.map((other) => other.stop()));
    if (service !== undefined) await expectNothingHeld(service);
  });
}

/** Resolves once no bytes of bodies or answers count: those of a call count until its connection has taken the answer. */
export function noBytesHeld(): Promise<void> {
  return eventually('no body and no answer is held', () => [...MEMORIES].every(({ bytes }) => bytes === 0));
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
}
