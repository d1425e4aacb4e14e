/** The agent's loop, for peers whose workflows are plain functions. */
import type { RunResult } from '../../peer-protocol';
import type { Agent, Entry } from './agent';

/** @param agent its steps are durable where the peer makes them so. */
export async function agentLoop(agent: Agent, question: string): Promise<Omit<RunResult, 'milliseconds'>> {
  const conversation: Entry[] = [{ role: 'user', content: question }];
  let toolCalls = 0;
  for (let modelCalls = 1; ; modelCalls += 1) {
    const reply = await agent.callModel(conversation);
    conversation.push(reply);
    if (reply.toolCalls.length === 0) return { modelCalls, toolCalls, answer: reply.content };
    for (const call of reply.toolCalls) {
      conversation.push(await agent.runTool(call));
      toolCalls += 1;
    }
  }
}

export async function timed<T extends object>(work: () => Promise<T>): Promise<T & { milliseconds: number }> {
  const begun = performance.now();
  const result = await work();
  return { ...result, milliseconds: performance.now() - begun };
}
