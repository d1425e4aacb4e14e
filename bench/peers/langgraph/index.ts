/** LangGraph.js: the loop is a graph of two nodes, with a checkpoint in PostgreSQL before each next step. */
import { randomUUID } from 'node:crypto';
import { SystemMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import type { PeerSetup, RunArguments, RunResult } from '../../peer-protocol';
import { createModel, listFolder, streamReply } from '../shared/agent';
import { timed } from '../shared/loop';
import { servePeer } from '../shared/serve';
import type { PeerProgram } from '../shared/serve';

const RECURSION_LIMIT = 10_000;

void servePeer(async (setup: PeerSetup): Promise<PeerProgram> => {
  const saver = PostgresSaver.fromConnString(setup.databaseUrl);
  await saver.setup();
  const graph = buildGraph(setup, saver);
  const run = async (question: string): Promise<Omit<RunResult, 'milliseconds'>> => {
    const input = { messages: [{ role: 'user', content: question }] };
    const { messages } = await graph.invoke(input, {
      configurable: { thread_id: randomUUID() },
      recursionLimit: RECURSION_LIMIT,
      durability: 'sync',
    });
    const count = (type: string): number => messages.filter((message) => message.getType() === type).length;
    return { modelCalls: count('ai'), toolCalls: count('tool'), answer: messages.at(-1)?.text ?? '' };
  };
  return {
    commands: { run: ({ question }: RunArguments): Promise<RunResult> => timed(() => run(question)) },
    close: () => saver.end(),
  };
});

function buildGraph(setup: PeerSetup, checkpointer: PostgresSaver) {
  const model = createModel(setup);
  const system = new SystemMessage(setup.system);
  const ls = tool(() => listFolder(setup.folder), {
    name: 'ls',
    description: 'Lists a folder.',
    schema: z.object({ description: z.string(), path: z.string() }),
  });
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await streamReply(model, [system, ...messages])] }))
    .addNode('tools', new ToolNode([ls]))
    .addEdge('__start__', 'model')
    .addConditionalEdges('model', toolsCondition)
    .addEdge('tools', 'model')
    .compile({ checkpointer });
}
