/**
 * The agent that the server runs. An ES module, as the server is: both then share one copy of the graph library. The
 * server imports it by its path, so what it needs comes from the argument of the program.
 */
import { tool } from '@langchain/core/tools';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { createModel, listFolder } from '../shared/agent.js';
import { peerSetup } from '../shared/serve.js';

const setup = peerSetup();
const model = createModel(setup);
const system = { role: 'system', content: setup.system };

const ls = tool(() => listFolder(setup.folder), {
  name: 'ls',
  description: 'Lists a folder.',
  schema: z.object({ description: z.string(), path: z.string() }),
});

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await model.invoke([system, ...messages])] }))
  .addNode('tools', new ToolNode([ls]))
  .addEdge('__start__', 'model')
  .addConditionalEdges('model', toolsCondition)
  .addEdge('tools', 'model')
  .compile();
