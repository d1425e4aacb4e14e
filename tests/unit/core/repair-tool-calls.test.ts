import type { AiMessage, Message, ToolMessage } from '../../../contracts';
import { repairToolCalls } from '../../../core/messages/repair-tool-calls';
import { aiMessage, humanMessage } from '../../support/run-fixtures';

function calling(id: string, ...callIds: string[]): AiMessage {
  const tool_calls = callIds.map((callId) => ({ type: 'tool_call' as const, id: callId, name: 'bash', args: {} }));
  return { ...aiMessage('', id), tool_calls };
}

function result(callId: string, content: string): ToolMessage {
  return {
    type: 'tool',
    id: `r-${callId}-${content}`,
    tool_call_id: callId,
    name: 'bash',
    content,
    status: 'success',
    artifact: null,
    additional_kwargs: {},
    response_metadata: {},
  };
}

const shape = (messages: readonly Message[]): string[] =>
  messages.map((message) =>
    message.type === 'tool' ? `tool:${message.tool_call_id}:${message.status}` : message.type,
  );

describe('a model is never shown an unpaired tool call', () => {
  test('a call without a result gets one that says it was interrupted', () => {
    const repaired = repairToolCalls([
      humanMessage('q'),
      calling('a', 'c1', 'c2'),
      result('c1', 'ok'),
      humanMessage('next'),
    ]);
    expect(shape(repaired)).toEqual(['human', 'ai', 'tool:c1:success', 'tool:c2:error', 'human']);
    expect(repaired[3]?.content).toContain('interrupted');
  });

  test('results come right behind their reply, in the order of the calls', () => {
    const repaired = repairToolCalls([
      calling('a', 'c1', 'c2'),
      humanMessage('between'),
      result('c2', 'b'),
      result('c1', 'a'),
    ]);
    expect(shape(repaired)).toEqual(['ai', 'tool:c1:success', 'tool:c2:success', 'human']);
  });

  test('a result without a call is left out', () => {
    expect(shape(repairToolCalls([humanMessage('q'), result('ghost', 'x'), aiMessage('a')]))).toEqual(['human', 'ai']);
  });

  test('an id that a later reply uses again is paired with the results of its own reply', () => {
    const repaired = repairToolCalls([
      calling('a', 'c1'),
      result('c1', 'one'),
      calling('b', 'c1'),
      result('c1', 'two'),
    ]);
    expect(repaired.map((message) => message.content)).toEqual(['', 'one', '', 'two']);
  });

  test('a second result of one call is left out', () => {
    expect(shape(repairToolCalls([calling('a', 'c1'), result('c1', 'one'), result('c1', 'two')]))).toEqual([
      'ai',
      'tool:c1:success',
    ]);
  });

  test('a conversation in order comes back as it is', () => {
    const log = [humanMessage('q'), calling('a', 'c1'), result('c1', 'one'), aiMessage('done')];
    expect(repairToolCalls(log)).toEqual(log);
  });
});
