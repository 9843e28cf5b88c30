import { describeKills } from './service-kills';

/** Five times by default, a hundred by `scripts/kill-test.mjs`. */
const KILLS = Number(process.env.KILLS ?? 5);

describeKills(KILLS);
describeKills(KILLS, 2);
