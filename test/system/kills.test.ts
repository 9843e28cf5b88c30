import { describeKills } from '../process/service/kills';

/** Ten times by default, a hundred by `scripts/kill-test.mjs`. */
const KILLS = Number(process.env.KILLS ?? 10);

describeKills(KILLS);
describeKills(KILLS, 2);
