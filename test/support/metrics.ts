import { send } from './http';

/** Reads `/metrics`; resolves to the value of each line, by its name and labels as written there. */
export async function metricsAt(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Map<string, number>> {
  const answer = await send(new URL('/metrics', url).href, { headers });
  if (answer.status !== 200) throw new Error(`${String(answer.status)}: ${answer.body}`);
  const lines = answer.body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}
