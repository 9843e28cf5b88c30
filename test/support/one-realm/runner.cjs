const { default: circus } = require('jest-circus/runner');

/** Jest's runner, which here tells the main process of whole files alone: two messages for each test take 3 % of `npm test`. */
module.exports = (globalConfig, config, environment, runtime, path) =>
  circus(globalConfig, config, environment, runtime, path);
