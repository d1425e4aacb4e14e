import type { AiMessage, JsonObject } from '../../../contracts';
import { withAttribution } from '../../../core/token-attribution';

const reply = (content: string, calls: Array<[name: string, args: JsonObject]> = []): AiMessage => ({
  type: 'ai',
  id: 'm',
  name: null,
  content,
  tool_calls: calls.map(([name, args], place) => ({ type: 'tool_call', id: `c${place}`, name, args })),
  invalid_tool_calls: [],
  usage_metadata: null,
  additional_kwargs: { reasoning_content: 'thoughts' },
  response_metadata: {},
});
const attribution = (message: AiMessage) => withAttribution(message).additional_kwargs['token_usage_attribution'];

describe('what a reader is told about the tokens of a reply', () => {
  it('names each call with what it was for, in order, and keeps what the provider sent', () => {
    const calls: Array<[string, JsonObject]> = [
      ['bash', { description: ' lists files ', command: 'ls' }],
      ['web_search', { query: 'weather' }],
      ['present_files', { filepaths: [] }],
      ['ask_clarification', {}],
    ];
    expect(withAttribution(reply('', calls)).additional_kwargs).toEqual({
      reasoning_content: 'thoughts',
      token_usage_attribution: {
        version: 1,
        kind: 'tool_batch',
        shared_attribution: true,
        tool_call_ids: ['c0', 'c1', 'c2', 'c3'],
        actions: [
          { kind: 'tool', tool_name: 'bash', description: 'lists files', tool_call_id: 'c0' },
          { kind: 'search', tool_name: 'web_search', query: 'weather', tool_call_id: 'c1' },
          { kind: 'present_files', tool_call_id: 'c2' },
          { kind: 'clarification', tool_call_id: 'c3' },
        ],
      },
    });
  });

  it('tells a single subagent apart from several calls', () => {
    const task: [string, JsonObject] = ['task', { description: 'reads', subagent_type: 'general-purpose' }];
    const one = { kind: 'subagent', description: 'reads', subagent_type: 'general-purpose', tool_call_id: 'c0' };
    const alone = { kind: 'subagent_dispatch', shared_attribution: false, actions: [one] };
    expect(attribution(reply('', [task]))).toMatchObject(alone);
    expect(attribution(reply('', [task, task]))).toMatchObject({ kind: 'tool_batch', shared_attribution: true });
  });

  it('tells an answer from a thought', () => {
    expect(attribution(reply('Four.'))).toMatchObject({ kind: 'final_answer', actions: [], tool_call_ids: [] });
    expect(attribution(reply(''))).toMatchObject({ kind: 'thinking' });
  });

  it('takes arguments of another type for none', () => {
    const actions = [{ kind: 'tool', tool_name: 'bash', description: null, tool_call_id: 'c0' }];
    expect(attribution(reply('', [['bash', { description: 7 }]]))).toMatchObject({ actions });
  });
});
