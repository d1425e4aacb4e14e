/**
 * LangGraph's own API server with one agent, in a process of its own: `node server.mjs <jobs>`. Prints one JSON line with
 * its address and ends on SIGTERM. Its state lives in memory and is written to files some seconds after the last change:
 * it is not durable.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

// Read by the server's logger when it loads: a line for each request would cost the peer time.
process.env['LOG_LEVEL'] = 'error';

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  probe.close();
  await once(probe, 'close');
  return port;
}

const { startServer } = await import('@langchain/langgraph-api/server');
const here = dirname(fileURLToPath(import.meta.url));
// The server keeps its files below the folder from which graphs are loaded: that one must be temporary.
const home = process.env['BENCH_HOME'] ?? here;
const { host } = await startServer({
  port: await freePort(),
  nWorkers: Number(process.argv[2] ?? 10),
  host: '127.0.0.1',
  cwd: home,
  graphs: { lead_agent: `${here}/graph.mjs:graph` },
});
process.stdout.write(`${JSON.stringify({ url: `http://${host}` })}\n`);
process.once('SIGTERM', () => process.exit(0));
