const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The files that take longest, of `npm test` and of the others. Jest knows that only once they have run; before, it takes a large file
 * for a long one, and the last of these would run alone.
 */
const LONGEST = `
  log/sqlite/event-log main/smoke pages/events/following cli/remote-log http/reported-refusals nightly/chaos
  service/waiting log/jetstream/event-log pages/events/event-page senders/deliveries nightly/container
  system/events-page system/browser tool/forward system/postgres system/forward nightly/node-versions system/kills
  nightly/cluster nightly/hold-ups tool/events system/build system/tls nightly/recovery nightly/package
  workers/workers system/remote-log
`.split(/\s+/);

/** Begins with the files that take longest, so that no core is idle at the end. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const place = LONGEST.findIndex((name) => path.replaceAll('\\', '/').endsWith(`/${name}.test.ts`));
      return place === -1 ? LONGEST.length : place;
    };
    return super.sort(tests).sort((a, b) => rank(a) - rank(b));
  }
};
