import type { AiMessage } from '../../../../contracts';
import { acceptReply } from '../../../../core/messages/accept-reply';
import type { ReplyDelta } from '../../../../models';
import { ADAPTERS } from '../../../../models/adapters';
import { PROVIDERS } from '../../../support/providers/providers';
import type { ScriptedServer } from '../../../support/providers/scripted-server';
import { startScriptedServer } from '../../../support/providers/scripted-server';
import { SCRIPTED_MODEL } from '../../../support/providers/wire';
import type { Bench } from './support';
import { createBench, human, results } from './support';

it('every adapter is held to the promises, that for classes of the user with one of them', () => {
  const kind = (use: string) => use.replace(/^npm:.*/, 'npm:');
  const named = ADAPTERS.flatMap(({ uses }) => uses).map(kind);
  const held = new Set(PROVIDERS.map(({ use }) => kind(use)));
  expect([...held].sort()).toEqual(named.sort());
});

describe.each(PROVIDERS)('a model of $use$variant', (provider) => {
  const { wire, thinking, sentBack, pieces, sees, takesForeignThoughts } = provider;
  let server: ScriptedServer;
  let bench: Bench;

  beforeAll(async () => {
    server = await startScriptedServer(wire);
    bench = createBench(provider, server);
  });
  afterAll(() => server.close());
  beforeEach(() => void (server.requests.length = 0));

  it('answers with text, streamed in order, and counts its tokens', async () => {
    server.script(wire.reply({ text: 'It is four. Really.', usage: { input: 12, output: 7 } }));
    const deltas: ReplyDelta[] = [];
    const reply = await bench.ask([human('2+2?')], { request: { onDelta: (delta) => void deltas.push(delta) } });
    expect(reply).toMatchObject({
      content: 'It is four. Really.',
      toolCalls: [],
      usage: { input_tokens: 12, output_tokens: 7, total_tokens: 19 },
      responseMetadata: { model_name: SCRIPTED_MODEL },
    });
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map(({ content }) => content).join('')).toBe('It is four. Really.');
    expect(bench.sent()).toContain('2+2?');
    expect(bench.sent()).toContain('Be brief.');
    expect(bench.sent()).toContain('Lists a folder');
    expect(server.requests).toHaveLength(1);
  });

  it.each([1, 100])(
    'calls several tools at once, with arguments in %d pieces or as whole as it sends them',
    async (count) => {
      const calls = [
        { id: 'c1', name: 'ls', args: { path: `/a "quoted" ü ${'deep/'.repeat(40)}` } },
        { id: 'c2', name: 'ls', args: { path: '/b' } },
      ];
      server.script(wire.reply({ text: 'Looking.', calls, pieces: count }));
      const deltas: ReplyDelta[] = [];
      const onDelta = (delta: ReplyDelta) => void deltas.push(delta);
      const reply = await bench.ask([human('look')], { request: { onDelta } });
      expect(reply.toolCalls.map(({ name, args }) => [name, JSON.parse(args)])).toEqual(
        calls.map(({ name, args }) => [name, args]),
      );
      expect(reply.content).toBe('Looking.');
      const chunks = deltas.flatMap(({ toolCallChunks }) => toolCallChunks);
      expect(chunks.filter(({ index }) => index === 0).length > 50).toBe(pieces && count === 100);
      for (const [index, { args }] of reply.toolCalls.entries())
        expect(chunks.map((chunk) => (chunk.index === index ? (chunk.args ?? '') : '')).join('')).toBe(args);
    },
  );

  it('goes on from what was stored of it, as after a crash: text, calls, results and what the provider wants back', async () => {
    const signature = 'c2lnbmF0dXJl';
    server.script(
      wire.reply({
        thinking: { text: 'let me see', signature },
        text: 'Looking.',
        calls: [{ id: 'c1', name: 'ls', args: { path: '/a' } }],
      }),
      wire.reply({ text: 'Done.' }),
    );
    const first = acceptReply(await bench.ask([human('look')], { entry: thinking }), 'lc_run--1');
    // Through the database and back.
    const stored = JSON.parse(JSON.stringify(first)) as AiMessage;
    await bench.ask([human('look'), stored, ...results(stored, 'a.txt')], { entry: thinking });
    for (const part of ['Looking.', '/a', 'a.txt', ...sentBack(signature)])
      expect(bench.sent()).toContain(part.startsWith('"') ? part : JSON.stringify(part).slice(1, -1));
  });

  it('keeps its thoughts apart from its answer', async () => {
    server.script(wire.reply({ thinking: { text: 'let me see', signature: 's' }, text: 'Four.' }));
    const reply = await bench.ask([human('2+2?')], { entry: thinking });
    expect(reply.content).toBe('Four.');
    expect(reply.additionalKwargs['reasoning_content']).toBe('let me see');
  });

  it('is shown pictures only where it sees, and none where it does not', async () => {
    const picture = human([
      { type: 'text', text: 'what is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } },
    ]);
    server.script(wire.reply({ text: 'a cat' }), wire.reply({ text: 'I cannot see' }));
    await bench.ask([picture], { entry: { supports_vision: true } });
    expect(bench.sent().includes('aGVsbG8=')).toBe(sees);
    await bench.ask([picture]);
    expect(bench.sent()).toContain('what is it?');
    expect(bench.sent()).not.toContain('aGVsbG8=');
    // A provider whose models never see is sent text alone.
    expect(bench.sent().includes('content of type image_url')).toBe(sees);
  });

  it('takes messages of other providers as plain text', async () => {
    server.script(wire.reply({ text: 'ok' }));
    const foreign = acceptReply(
      {
        content: 'from elsewhere',
        toolCalls: [],
        usage: null,
        finishReason: 'stop',
        additionalKwargs: { reasoning_content: 'foreign thoughts', provider_content: [{ type: 'foreign blocks' }] },
        responseMetadata: { model_provider: 'somebody' },
      },
      'lc_run--2',
    );
    await bench.ask([human('a'), foreign, human('b')]);
    expect(bench.sent()).toContain('from elsewhere');
    expect(bench.sent()).not.toContain('foreign blocks');
    expect(bench.sent().includes('foreign thoughts')).toBe(takesForeignThoughts);
  });

  it('is complete where its tokens were not counted', async () => {
    server.script(wire.reply({ text: 'Four.', usage: null }));
    expect(await bench.ask([human('2+2?')])).toMatchObject({ content: 'Four.', usage: null });
  });
});
