/**
 * The agent that the server runs: one streamed chat completion a turn, and one listing of a folder, until the model calls
 * no tool. An ES module, as the server is: both then share one copy of the graph library.
 */
import { readdir } from 'node:fs/promises';
import { tool } from '@langchain/core/tools';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';

const { BENCH_REFEREE_URL: baseURL = '', BENCH_FOLDER: folder = '.' } = process.env;

/** Lists one real folder, whatever path the model names: that path is one of the product's sandbox. */
const ls = tool(async () => (await readdir(folder)).join('\n') || '(empty)', {
  name: 'ls',
  description: 'Lists a folder.',
  schema: z.object({ description: z.string(), path: z.string() }),
});

const model = new ChatOpenAI({
  model: 'scripted',
  apiKey: 'test-key',
  streaming: true,
  streamUsage: true,
  configuration: { baseURL },
}).bindTools([ls]);

const SYSTEM = { role: 'system', content: 'You are an assistant who lists folders.' };

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await model.invoke([SYSTEM, ...messages])] }))
  .addNode('tools', new ToolNode([ls]))
  .addEdge('__start__', 'model')
  .addConditionalEdges('model', toolsCondition)
  .addEdge('tools', 'model')
  .compile();
