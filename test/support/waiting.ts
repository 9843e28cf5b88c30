import { eventually } from './eventually';
import { ask, type BindingName } from './bindings';
import type { Answer } from './http';
import { metricsAt } from './metrics';

/** Calls GetEvents with parameters. */
export function getEvents(
  url: string,
  binding: BindingName,
  parameters: Readonly<Record<string, string>>,
): Promise<Answer> {
  const elements = Object.entries(parameters).map(([name, value]) => `<${name}>${value}</${name}>`);
  const fields = new URLSearchParams(parameters).toString();
  return ask(url, binding, 'GetEvents', { inside: elements.join(''), fields });
}

/** Resolves once this many calls wait. */
export function untilWaiting(url: string, calls: number): Promise<void> {
  return eventually(
    `${String(calls)} calls wait`,
    async () => (await metricsAt(url)).get('webhook_calls_waiting') === calls,
  );
}
