/**
 * LangGraph's own API server, in this process: `index.js <setup> [jobs]`. Its clients speak HTTP with it: the command
 * `address` says where.
 */
import type { PeerSetup } from '../../peer-protocol';
import { servePeer } from '../shared/serve';
import type { PeerProgram } from '../shared/serve';
import { startLangGraphServer } from './server';

/** What its command line uses unless told otherwise. */
const DEFAULT_JOBS = 10;

void servePeer(async ({ folder }: PeerSetup): Promise<PeerProgram> => {
  const address = await startLangGraphServer({ jobs: Number(process.argv[3] ?? DEFAULT_JOBS), folder });
  return {
    commands: { address: async () => address },
    close: async () => undefined,
  };
});
