/** The same tests without the services: for unit tests while writing code. */
const { globalSetup, globalTeardown, ...base } = require('./jest.config.js');
void globalSetup;
void globalTeardown;
module.exports = base;
