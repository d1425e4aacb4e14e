/** `npm run ask` with stand-ins for the worker and the API of a stack that it starts. */
const { join } = require('node:path');
const built = join(__dirname, '..', '..', '..', 'dist');
const { runCommand } = require(join(built, 'workers', 'stack', 'command.js'));
const { runAsk } = require(join(built, 'scripts', 'ask.js'));

runCommand(() => runAsk({ worker: join(__dirname, 'stand-in-worker.cjs'), api: join(__dirname, 'stand-in-api.cjs') }));
