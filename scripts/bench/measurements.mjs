import { load } from './wrk.mjs';

/** The name of the server that all others are a share of. */
export const LIMIT = 'limit: bare node:http';

/**
 * How long a server is called before it is measured under a load for the first time, in seconds: so long servers with a
 * just-in-time compiler take until they have compiled what they run; and before each further time, since others came between.
 */
const FIRST_WARM_UP = 10;
const WARM_UP = 1;

const HEAD = ['requests/s', 'share', 'by CPU', 'CPU µs', 'p50 ms', 'p99 ms', 'wrk busy', 'errors'];

/** Collects what the rounds of a bench measure, and says it in rows of a table. */
export class Measurements {
  #seconds;
  /** Load, then server, then the results of the rounds. */
  #results = new Map();

  /** @param seconds - how long each server is measured in each round, without its warm-up. */
  constructor(seconds) {
    this.#seconds = seconds;
  }

  /** Measures a server once more under a load. The server is the same process each time. */
  async measure(loadName, serverName, server, call, connections = 32) {
    const results = listed(listed(this.#results, loadName, new Map()), serverName, []);
    await load(server.url, call, { connections, seconds: results.length === 0 ? FIRST_WARM_UP : WARM_UP });
    const before = await server.processorSeconds();
    const result = await load(server.url, call, { connections, seconds: this.#seconds });
    const processor = (await server.processorSeconds()) - before;
    results.push({ ...result, microseconds: (processor / result.requests) * 1e6 });
  }

  /**
   * Writes a table of rows, each of which is called something and shows a server under a load. Figures are medians of the
   * rounds. A share is the median of the server's rates, each divided by that of the limit under the same load in its round;
   * `by CPU` is the same of the limit's processor time for a call, divided by the server's.
   */
  table(title, rows) {
    return table([
      [title, ...HEAD],
      ...rows.map(([name, loadName, serverName]) => [name, ...this.#cells(loadName, serverName)]),
    ]);
  }

  #cells(loadName, serverName) {
    const results = this.#results.get(loadName).get(serverName);
    const limits = this.#results.get(loadName).get(LIMIT);
    const middle = (name) => median(results.map((result) => result[name]));
    const ofLimit = (share) => median(results.map((result, round) => share(result, limits[round]))).toFixed(2);
    const whole = (number) => Math.round(number).toLocaleString('en-US');
    return [
      whole(middle('rate')),
      ofLimit(({ rate }, limit) => rate / limit.rate),
      ofLimit(({ microseconds }, limit) => limit.microseconds / microseconds),
      middle('microseconds').toFixed(1),
      middle('p50').toFixed(2),
      middle('p99').toFixed(2),
      `${(middle('generator') * 100).toFixed(0)} %`,
      whole(results.reduce((sum, { errors }) => sum + errors, 0)),
    ];
  }
}

function listed(map, key, empty) {
  if (!map.has(key)) map.set(key, empty);
  return map.get(key);
}

/**
 * Writes a Markdown table, laid out as Prettier does it.
 *
 * @param rows - the head first.
 * @param texts - how many of the first columns hold text, which stands on the left; figures stand on the right.
 */
export function table(rows, texts = 1) {
  const widths = rows[0].map((_, column) => Math.max(3, ...rows.map((row) => row[column].length)));
  const isText = (column) => column < texts;
  const padded = rows.map((row) =>
    row.map((cell, column) => (isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))),
  );
  const rule = widths.map((width, column) => (isText(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [head, ...body] = padded;
  return [head, rule, ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The median of some numbers. */
export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}
