/**
 * The work that every peer does: one streamed chat completion a turn, and one listing of a folder, until the model calls
 * no tool. What is between the steps is the peer's own.
 */
import { readdir } from 'node:fs/promises';
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import type { PeerSetup } from '../../peer-protocol';

export interface ToolCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

/** One message of the conversation, as plain JSON. */
export type Entry =
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls: ToolCall[] }
  | { role: 'tool'; content: string; toolCallId: string };

export type Reply = Extract<Entry, { role: 'assistant' }>;

export interface Agent {
  callModel(conversation: readonly Entry[]): Promise<Reply>;
  runTool(call: ToolCall): Promise<Extract<Entry, { role: 'tool' }>>;
}

export function createAgent(setup: PeerSetup): Agent {
  const model = createModel(setup);
  const system = new SystemMessage(setup.system);
  return {
    async callModel(conversation) {
      const reply = await streamReply(model, [system, ...conversation.map(toMessage)]);
      const toolCalls = (reply.tool_calls ?? []).map(({ id = '', name, args }) => ({ id, name, args }));
      return { role: 'assistant', content: reply.text, toolCalls };
    },
    runTool: async ({ id }) => ({ role: 'tool', content: await listFolder(setup.folder), toolCallId: id }),
  };
}

/**
 * One streamed completion. Not `invoke`, not even in streaming mode: that counts the tokens of every request with a
 * tokenizer, for which it downloads a vocabulary first.
 */
export async function streamReply(model: StreamingModel, messages: BaseMessage[]): Promise<AIMessageChunk> {
  let reply: AIMessageChunk | undefined;
  for await (const chunk of await model.stream(messages)) reply = reply === undefined ? chunk : reply.concat(chunk);
  if (reply === undefined) throw new Error('the model said nothing');
  return reply;
}

export type StreamingModel = ReturnType<typeof createModel>;

export function createModel(setup: PeerSetup) {
  return new ChatOpenAI({
    model: 'referee',
    apiKey: 'no-secret',
    streamUsage: true,
    configuration: { baseURL: setup.baseUrl },
  }).bindTools([...setup.tools]);
}

/** The one real folder, whatever path the model names: that path is one of the product's sandbox. */
export async function listFolder(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).join('\n') || '(empty)';
}

function toMessage(entry: Entry): BaseMessage {
  switch (entry.role) {
    case 'user':
      return new HumanMessage(entry.content);
    case 'assistant':
      return new AIMessage({ content: entry.content, tool_calls: entry.toolCalls });
    case 'tool':
      return new ToolMessage({ content: entry.content, tool_call_id: entry.toolCallId });
  }
}
