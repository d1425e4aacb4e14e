import { randomUUID } from 'node:crypto';
import type { AiMessage, HumanMessage, RunOptions } from '../../contracts';
import type { AdmissionRequest } from '../../db';

export function humanMessage(text: string, id: string = randomUUID()): HumanMessage {
  return { type: 'human', id, content: text, name: null, additional_kwargs: {}, response_metadata: {} };
}

export function aiMessage(text: string, id: string = randomUUID()): AiMessage {
  return {
    type: 'ai',
    id,
    content: text,
    name: null,
    tool_calls: [],
    invalid_tool_calls: [],
    usage_metadata: null,
    additional_kwargs: {},
    response_metadata: {},
  };
}

export function runOptions(options: Partial<RunOptions> = {}): RunOptions {
  return {
    hasInput: true,
    messages: [humanMessage('hello')],
    channels: {},
    context: {},
    streamModes: ['values'],
    interruptBefore: [],
    interruptAfter: [],
    ...options,
  };
}

export function admissionRequest(request: Partial<AdmissionRequest> & { threadId: string }): AdmissionRequest {
  return {
    runId: randomUUID(),
    owner: 'default',
    assistantId: 'lead_agent',
    metadata: {},
    kwargs: { input: null, config: null },
    options: runOptions(),
    strategy: 'reject',
    onDisconnect: 'continue',
    createThread: true,
    afterSeconds: 0,
    ...request,
  };
}
