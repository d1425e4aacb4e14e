/**
 * The scripted model as a process of its own, for load tests: `node …/fake-model-process.js [port]`. Scripts come inside
 * the messages (`PLAN:…`). Prints one JSON line with its address and ends on SIGTERM or SIGINT.
 */
import { startFakeModel } from './fake-model/server';

async function main(): Promise<void> {
  const fake = await startFakeModel({ port: Number(process.argv[2] ?? 0), record: false });
  process.stdout.write(`${JSON.stringify({ baseUrl: fake.baseUrl, pid: process.pid })}\n`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void fake.close());
}

void main();
