/** Preloaded into the service: while the file that OTHER_BUILD names exists, workers that start are of another build. */
const { existsSync } = require('node:fs');

const { WEBHOOK_SUPERVISOR: common, OTHER_BUILD: file = '' } = process.env;
if (common !== undefined && existsSync(file))
  process.env.WEBHOOK_SUPERVISOR = JSON.stringify({ ...JSON.parse(common), protocol: -1 });
