/** `npm start` with stand-ins for the worker and the API: what is tested is what surrounds them. */
const { join } = require('node:path');
const built = join(__dirname, '..', '..', '..', 'dist', 'workers', 'stack');
const { runCommand } = require(join(built, 'command.js'));
const { runStart } = require(join(built, 'start.js'));

runCommand(() =>
  runStart({ worker: join(__dirname, 'stand-in-worker.cjs'), api: join(__dirname, 'stand-in-api.cjs') }),
);
