/** Preloaded into the service: while the file that OTHER_BUILD names exists, workers that start are of another build. */
const { existsSync } = require('node:fs');

if (process.env.WEBHOOK_WRITER_PROTOCOL !== undefined && existsSync(process.env.OTHER_BUILD ?? ''))
  process.env.WEBHOOK_WRITER_PROTOCOL = 'other';
