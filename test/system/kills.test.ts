import { describeKills } from '../main/kills';

/** Ten times by default, a hundred by `scripts/kill-test.mjs`. */
describeKills(Number(process.env.KILLS ?? 10));
