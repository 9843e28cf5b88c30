import { median } from './median.mjs';
import { table } from './markdown.mjs';
import { load } from './wrk.mjs';

/** The name of the server that all others are a share of. */
export const LIMIT = 'limit: bare node:http';

const HEAD = ['requests/s', 'share', 'by CPU', 'CPU µs', 'p50 ms', 'p99 ms', 'wrk busy', 'errors'];

/** Collects what the rounds of a bench measure, and says it in rows of a table. */
export class Measurements {
  #seconds;
  /** Load, then server, then the results of the rounds. */
  #results = new Map();

  /** @param seconds - how long each server is measured in each round, after as long again without measuring. */
  constructor(seconds) {
    this.#seconds = seconds;
  }

  /** Calls for as long before it measures, so that the server has compiled what it runs. */
  async measure(loadName, serverName, server, call, connections = 32) {
    const options = { connections, seconds: this.#seconds };
    await load(server.url, call, options);
    const before = await server.processorSeconds();
    const result = await load(server.url, call, options);
    const processor = (await server.processorSeconds()) - before;
    const servers = listed(this.#results, loadName, new Map());
    listed(servers, serverName, []).push({ ...result, microseconds: (processor / result.requests) * 1e6 });
  }

  /**
   * Writes a table of rows, each of which is called something and shows a server under a load. Figures are medians of the
   * rounds. A share is the median of the server's rates, each divided by that of the limit under the same load in its round;
   * `by CPU` is the limit's processor time for a call, divided by the server's.
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
    const middle = (name, list = results) => median(list.map((result) => result[name]));
    const whole = (number) => Math.round(number).toLocaleString('en-US');
    return [
      whole(middle('rate')),
      median(results.map(({ rate }, round) => rate / limits[round].rate)).toFixed(2),
      (middle('microseconds', limits) / middle('microseconds')).toFixed(2),
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
