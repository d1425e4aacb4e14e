/**
 * Runs in the workflow sandbox: the loop as a workflow, with the time-outs and retries of the product.
 */
import { proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { RunResult } from '../../peer-protocol';
import type { Entry, Reply, ToolCall } from '../shared/agent';

export interface Activities {
  callModel(conversation: Entry[]): Promise<Reply>;
  runTool(call: ToolCall): Promise<Entry>;
  begin(runId: string, question: string): Promise<void>;
  callModelOf(runId: string): Promise<string[]>;
  runToolOf(runId: string, toolCallId: string): Promise<void>;
  finish(runId: string): Promise<string>;
}

type Outcome = Omit<RunResult, 'milliseconds'>;

const RETRY = { initialInterval: '200ms', maximumInterval: '10s', backoffCoefficient: 2 } as const;
const { callModel } = proxyActivities<Activities>({
  startToCloseTimeout: '2h',
  heartbeatTimeout: '6s',
  retry: RETRY,
});
const local = proxyLocalActivities<Activities>({ startToCloseTimeout: '60s', retry: RETRY });

/**
 * The plain way: a model call is an activity, the quick tool a local activity, so a turn is one round trip. The workflow
 * holds the conversation and hands all of it to every model call.
 */
export async function agentRun(question: string): Promise<Outcome> {
  const conversation: Entry[] = [{ role: 'user', content: question }];
  let toolCalls = 0;
  for (let modelCalls = 1; ; modelCalls += 1) {
    const reply = await callModel(conversation);
    conversation.push(reply);
    if (reply.toolCalls.length === 0) return { modelCalls, toolCalls, answer: reply.content };
    for (const call of reply.toolCalls) {
      conversation.push(await local.runTool(call));
      toolCalls += 1;
    }
  }
}

/** The least that it can cost: everything is a local activity, ids alone pass through the workflow, nothing is stored. */
export async function localAgentRun(question: string): Promise<Outcome> {
  const { workflowId } = workflowInfo();
  await local.begin(workflowId, question);
  let toolCalls = 0;
  for (let modelCalls = 1; ; modelCalls += 1) {
    const toolCallIds = await local.callModelOf(workflowId);
    if (toolCallIds.length === 0) return { modelCalls, toolCalls, answer: await local.finish(workflowId) };
    for (const id of toolCallIds) {
      await local.runToolOf(workflowId, id);
      toolCalls += 1;
    }
  }
}
