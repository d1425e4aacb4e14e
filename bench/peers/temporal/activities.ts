/** What the bare workflows do, once with the conversation as argument and once with it in memory. */
import { Context } from '@temporalio/activity';
import type { Agent, Entry } from '../shared/agent';
import type { Activities } from './workflow';

const HEARTBEAT_MS = 1_000;

export function createActivities(agent: Agent): Activities {
  const conversations = new Map<string, Entry[]>();
  const conversationOf = (runId: string): Entry[] => {
    const conversation = conversations.get(runId);
    if (conversation === undefined) throw new Error(`the conversation of ${runId} is lost`);
    return conversation;
  };
  return {
    callModel: (conversation) => heartbeating(() => agent.callModel(conversation)),
    runTool: (call) => agent.runTool(call),
    async begin(runId, question) {
      conversations.set(runId, [{ role: 'user', content: question }]);
    },
    async callModelOf(runId) {
      const conversation = conversationOf(runId);
      const reply = await agent.callModel(conversation);
      conversation.push(reply);
      return reply.toolCalls.map(({ id }) => id);
    },
    async runToolOf(runId, toolCallId) {
      const conversation = conversationOf(runId);
      const calls = conversation.flatMap((entry) => (entry.role === 'assistant' ? entry.toolCalls : []));
      const call = calls.find(({ id }) => id === toolCallId);
      if (call === undefined) throw new Error(`the call ${toolCallId} is lost`);
      conversation.push(await agent.runTool(call));
    },
    async finish(runId) {
      const answer = conversationOf(runId).at(-1)?.content ?? '';
      conversations.delete(runId);
      return answer;
    },
  };
}

async function heartbeating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
