import type { Message } from '../../../../contracts';
import type { ModelReply, ReplyDelta } from '../../../../models';
import type { ProviderAnswer, ScriptedServer } from '../../../support/providers/scripted-server';
import { startScriptedServer } from '../../../support/providers/scripted-server';
import { human } from '../support';
import { ask, providerModel } from './provider-model';

const VLLM = 'deerflow.models.vllm_provider:VllmChatModel';
const MINIMAX = 'deerflow.models.patched_minimax:PatchedChatMiniMax';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.close());
beforeEach(() => void (server.requests.length = 0));

const sent = (): Record<string, unknown> => server.requests.at(-1)?.body ?? {};
const usage = (input: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

function stream(...chunks: object[]): ProviderAnswer {
  const parts = chunks.map((chunk) => `data: ${JSON.stringify({ id: 'c', model: 'm', ...chunk })}\n\n`);
  return { contentType: 'text/event-stream', parts: [...parts, 'data: [DONE]\n\n'] };
}

const chunk = (delta: object, rest: object = {}, finish: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...rest,
});

interface Answered {
  reply: ModelReply;
  deltas: ReplyDelta[];
}

async function answered(use: string, entry: object = {}, messages: Message[] = [human('2+2?')]): Promise<Answered> {
  const deltas: ReplyDelta[] = [];
  const model = providerModel({ server, use, entry: { api_key: 'a-key', ...entry } });
  const reply = await ask(model, messages, { onDelta: (delta) => void deltas.push(delta) });
  return { reply, deltas };
}

describe('vLLM', () => {
  it.each([true, false, undefined])(
    'that counts with every part is counted once, told to be so: %s',
    async (cumulative) => {
      server.script(
        stream(
          chunk({ role: 'assistant' }, { usage: usage(10, 0) }),
          chunk({ content: 'It ' }, { usage: usage(10, 1) }),
          chunk({ content: 'is four.' }, { usage: usage(10, 3) }),
          chunk({}, { usage: usage(10, 4) }, 'stop'),
          { choices: [], usage: usage(10, 4) },
        ),
        stream(chunk({ content: 'Five.' }, { usage: usage(20, 1) }), chunk({}, { usage: usage(20, 2) }, 'stop')),
      );
      const entry = { cumulative_stream_usage: cumulative };
      expect((await answered(VLLM, entry)).reply.usage).toEqual({
        input_tokens: 10,
        output_tokens: 4,
        total_tokens: 14,
      });
      // The same id again, as some servers give it: nothing is left of the completion before.
      expect((await answered(VLLM, entry)).reply.usage).toEqual({
        input_tokens: 20,
        output_tokens: 2,
        total_tokens: 22,
      });
      expect(JSON.stringify(sent())).not.toContain('cumulative');
    },
  );

  it('that counts once, at the end, is counted as well', async () => {
    server.script(
      stream(chunk({ content: 'Four.' }, { usage: null }), chunk({}, {}, 'stop'), { choices: [], usage: usage(10, 4) }),
    );
    const { reply } = await answered(VLLM, { cumulative_stream_usage: true });
    expect(reply.usage).toEqual({ input_tokens: 10, output_tokens: 4, total_tokens: 14 });
    expect(sent()['stream_options']).toEqual({ include_usage: true });
  });

  it.each<[object, object]>([
    [{ thinking: true }, { enable_thinking: true }],
    [
      { thinking: false, other: 1 },
      { enable_thinking: false, other: 1 },
    ],
    [{ thinking: true, enable_thinking: false }, { enable_thinking: false }],
    [{ enable_thinking: true }, { enable_thinking: true }],
    [{ other: 1 }, { other: 1 }],
  ])('reads one name of the switch for thinking, whichever the entry has: %j', async (template, expected) => {
    server.script(stream(chunk({ content: 'ok' }, {}, 'stop')));
    await answered(VLLM, { extra_body: { chat_template_kwargs: template, top_k: 5 } });
    expect(sent()).toMatchObject({ chat_template_kwargs: expected, top_k: 5 });
    expect(Object.keys(sent()['chat_template_kwargs'] as object)).toEqual(Object.keys(expected));
  });
});

describe('MiniMax', () => {
  it('is sent no names of users, which it wants to be all the same', async () => {
    server.script(stream(chunk({ content: 'ok' }, {}, 'stop')));
    const named = [
      { ...human('a'), name: 'user-input' },
      { ...human('b'), name: 'summary' },
    ];
    await answered(MINIMAX, {}, named);
    expect(sent()['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ]);
    expect(sent()['reasoning_split']).toBe(true);
  });

  it('thinks in parts, which are joined, and apart from the answer', async () => {
    server.script(
      stream(
        chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'let me' }] }),
        chunk({ reasoning_details: [{ type: 'reasoning.text', text: ' see' }] }),
        chunk({ content: 'Four.' }, {}, 'stop'),
      ),
    );
    const { reply } = await answered(MINIMAX);
    expect(reply).toMatchObject({ content: 'Four.', additionalKwargs: { reasoning_content: 'let me see' } });
  });

  it('that writes its thoughts into the text in spite of it shows them as thoughts, while it streams', async () => {
    const parts = ['<thi', 'nk>let ', 'me see</', 'think>\n\nIt is ', 'four.'];
    server.script(stream(...parts.map((content) => chunk({ content })), chunk({}, {}, 'stop')));
    const { reply, deltas } = await answered(MINIMAX);
    expect(reply).toMatchObject({ content: 'It is four.', additionalKwargs: { reasoning_content: 'let me see' } });
    expect(deltas.map(({ content }) => content).join('')).toBe('It is four.');
    expect(deltas.map(({ additionalKwargs }) => additionalKwargs['reasoning_content'] ?? '').join('')).toBe(
      'let me see',
    );
  });

  it('that answers in one piece, though asked for a stream, is read in the same way', async () => {
    const message = { role: 'assistant', content: '<think>\nlet me see\n</think>\n\nFour.' };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    server.script({ parts: [JSON.stringify({ id: 'c', model: 'm', choices, usage: usage(10, 4) })] });
    const { reply } = await answered(MINIMAX);
    expect(reply).toMatchObject({ content: 'Four.', additionalKwargs: { reasoning_content: 'let me see' } });
  });

  it('may write about the marks of thoughts, as any model may, and other models begin with them too', async () => {
    server.script(stream(chunk({ content: 'Write <think>so</think>.' }, {}, 'stop')));
    expect((await answered(MINIMAX)).reply.content).toBe('Write <think>so</think>.');
    server.script(stream(chunk({ content: '<think>so</think>' }, {}, 'stop')));
    expect((await answered('langchain_openai:ChatOpenAI')).reply.content).toBe('<think>so</think>');
  });
});
