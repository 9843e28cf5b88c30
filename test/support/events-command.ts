import { eventsCommand, type LogCommands } from '../../src/cli/events-commands';

/** What the tool for the event log would do with arguments: the name of a command, and what it is given. */
export async function askedFor(args: readonly string[]): Promise<unknown[]> {
  const asked: unknown[] = [];
  const log = new Proxy({} as LogCommands, {
    get:
      (_, name) =>
      (...given: unknown[]) => {
        asked.push(name, ...given);
      },
  });
  await eventsCommand(log).run(args);
  return asked;
}
