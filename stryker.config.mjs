/**
 * Mutation tests (npm run mutate) of the files where a mistake loses, opens or mangles something.
 *
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  testRunner: 'jest',
  jest: { configFile: 'jest.mutate.config.mjs' },
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  mutate: [
    'src/events/{event,payload}.ts',
    'src/log/page.ts',
    'src/events/cloudevents/*.ts',
    'src/soap/{arguments,envelope-builder,envelope-reader}.ts',
    'src/xml/element-content.ts',
    'src/get-post/{form-fields,http-content,http-input}.ts',
    'src/access/*.ts',
    'src/senders/*.ts',
    'src/http/{callers,rate-limit}.ts',
  ],
  // The tests need none of these, and some are large.
  ignorePatterns: [
    'coverage',
    'data',
    'dist',
    'test/fixtures',
    'test/interop',
    'test/system',
    'test/process',
    'test/attacks',
  ],
  concurrency: 2,
  timeoutMS: 3_000,
  tempDirName: '.stryker',
  reporters: ['clear-text', 'progress-append-only', 'json'],
  jsonReporter: { fileName: '.stryker/report.json' },
  clearTextReporter: { allowColor: false, reportTests: false },
  thresholds: { high: 95, low: 85, break: 85 },
};
