/** Stands in for the worker: polls nothing, says that it is ready, and writes down how it was ended. */
const { appendFileSync } = require('node:fs');
const { join } = require('node:path');

const journal = join(process.env.DEER_FLOW_HOME, 'stand-in-worker.txt');
const note = (text) => appendFileSync(journal, `${text}\n`);

if (process.env.STAND_IN_FAILS === 'worker') {
  console.error('no such model: example-model');
  process.exit(3);
}
process.on('SIGTERM', () => {
  note('asked to stop');
  if (process.env.STAND_IN_NEVER_STOPS === 'worker') return;
  setTimeout(() => {
    note('drained');
    process.exit(0);
  }, 200);
});
setInterval(() => undefined, 1000);
note(`started ${process.pid}`);
process.send?.({ type: 'ready' });
