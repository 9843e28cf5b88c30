import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Sender } from '../../../src/senders/sender';
import { DELIVERIES, SECRETS } from '../../support/deliveries';
import { useService } from '../../support/service';
import { startTarget } from '../../support/target';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { runToolHere } from '../../support/tool-here';

describe('a sample that is triggered', () => {
  const folder = useTemporaryFolder();
  const trigger = (args: readonly string[], variables = {}) =>
    runToolHere(['trigger', ...args], variables, folder.path);
  const settings = { ...SECRETS, SERVICE_ROOT: 'hooks' };
  const service = useService(settings);

  it.each(Sender.recognised)('of %s is recorded as signed by the service that has the same settings', async (name) => {
    const { port } = new URL(service.url);
    expect(await trigger([name], { ...settings, PORT: port })).toMatchObject({ code: 0, errors: '' });
    const [event] = await service.log.scan({ limit: 1 });
    const arrival = JSON.parse(event?.arrival ?? '') as { headers: object };
    expect(arrival).toMatchObject({ signedBy: Sender.named(name)?.name, 'webhook-sender': name });
    // Libraries of senders refuse a request without their own fields.
    const { fields, hidden = [] } = DELIVERIES.find(({ event }) => event.sender === name) ?? {};
    const own = Object.keys(fields?.('', '') ?? {}).filter((field) => /^x-/i.test(field));
    expect([...Object.keys(arrival.headers), ...hidden]).toEqual(
      expect.arrayContaining(own.map((field) => field.toLowerCase())),
    );
    expect(event?.attributes).not.toContain('webhook.recorded');
    expect(event?.webhookId).toMatch(/^signed /);
  });

  it('goes to another address with a body of its own, signed with no secret but the one in a file', async () => {
    const target = await startTarget((request) =>
      request.headers['x-gitlab-event'] === 'Merge Request Hook' ? 200 : 422,
    );
    const args = ['gitlab', 'merge_request', '--to', target.url];
    await writeFile(join(folder.path, 'data'), '{"a":1}');
    await writeFile(join(folder.path, 'secret'), 'of the handler\n');
    expect(await trigger([...args, '--data', 'data'], SECRETS)).toMatchObject({ code: 0 });
    expect(await trigger([...args, '--data', 'data', '--secret-file', 'secret'], SECRETS)).toMatchObject({ code: 0 });
    const tokens = target.received.map(({ headers }) => headers['x-gitlab-token']);
    expect(tokens).toEqual([undefined, 'of the handler']);
    expect(target.received[1]?.body.toString()).toBe('{"a":1}');
    const unknown = await trigger(args);
    expect([unknown.code, unknown.errors]).toEqual([2, expect.stringContaining('only push: give')]);
    const refused = await trigger(['gitlab', '--to', target.url]);
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('422')]);
    await target.close();
  });
});
