/** LangGraph's own API server, in this process. Its state lives in memory and goes to files when nothing happened for a while. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';

export interface ServerOptions {
  /** Runs that it works on at once: `--n-jobs-per-worker` of its command line, which says 10. */
  jobs: number;
  /** Where it keeps its files. */
  folder: string;
}

/** Gives its address. */
export async function startLangGraphServer({ jobs, folder }: ServerOptions): Promise<string> {
  // Read when its logger loads. Like the product, it only writes down what went wrong.
  process.env['LOG_LEVEL'] = 'warn';
  const { startServer } = await import('@langchain/langgraph-api/server');
  const { host } = await startServer({
    port: await freePort(),
    nWorkers: jobs,
    host: '127.0.0.1',
    cwd: folder,
    graphs: { lead_agent: `${join(__dirname, 'graph.mjs')}:graph` },
  });
  return `http://${host}`;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  probe.close();
  await once(probe, 'close');
  return port;
}
