/** The scripted model as a process: `node …/model-process.js <journal>`. Says its port on the IPC channel. */
import { startJournallingModel } from './journalling-model';

async function main(): Promise<void> {
  const model = await startJournallingModel(process.argv[2] ?? 'model.jsonl');
  process.send?.({ type: 'ready', port: model.port });
  process.once('disconnect', () => process.exit(0));
  process.once('SIGTERM', () => process.exit(0));
}

void main();
