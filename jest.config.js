/** Tests run from TypeScript sources through swc; the processes that tests start run from the build in dist/. */
/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/tests/**/*.test.ts'],
  transform: {
    '^.+\\.[jt]s$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  transformIgnorePatterns: [
    '/node_modules/(?!(uuid|yauzl|@langchain|langgraph-sdk-1-5|p-timeout|p-queue|p-retry|is-network-error|eventemitter3)/)',
  ],
  modulePathIgnorePatterns: [
    '<rootDir>/dist',
    '<rootDir>/.cache',
    '<rootDir>/bench/build',
    '<rootDir>/bench/node_modules',
  ],
  globalSetup: '<rootDir>/tests/support/global-setup.ts',
  globalTeardown: '<rootDir>/tests/support/global-teardown.ts',
  reporters: ['default', '<rootDir>/tests/support/summary-reporter.js'],
  testTimeout: 60000,
  maxWorkers: 2,
};
