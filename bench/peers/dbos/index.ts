/** DBOS: the loop is a workflow, each model call and each tool call a step of it, kept in PostgreSQL. */
import { DBOS } from '@dbos-inc/dbos-sdk';
import type { PeerSetup, RunArguments, RunResult } from '../../peer-protocol';
import { createAgent } from '../shared/agent';
import type { Agent } from '../shared/agent';
import { agentLoop, timed } from '../shared/loop';
import { servePeer } from '../shared/serve';
import type { PeerProgram } from '../shared/serve';

void servePeer(async (setup: PeerSetup): Promise<PeerProgram> => {
  const agent = createAgent(setup);
  const durable: Agent = {
    callModel: (conversation) => DBOS.runStep(() => agent.callModel(conversation), { name: 'callModel' }),
    runTool: (call) => DBOS.runStep(() => agent.runTool(call), { name: 'runTool' }),
  };
  const agentRun = DBOS.registerWorkflow((question: string) => agentLoop(durable, question), { name: 'agentRun' });
  DBOS.setConfig({ name: 'benchmark', systemDatabaseUrl: setup.databaseUrl, logLevel: 'warn' });
  await DBOS.launch();
  return {
    commands: {
      run: ({ question }: RunArguments): Promise<RunResult> =>
        timed(async () => (await DBOS.startWorkflow(agentRun)(question)).getResult()),
    },
    close: () => DBOS.shutdown(),
  };
});
