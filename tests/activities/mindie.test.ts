import { configSchema } from '../../contracts/schemas/config';
import { createChatModelFactory } from '../../models';
import { createSilentLogger } from '../../observability';
import { say } from '../support/fake-model';
import type { Activities } from './support';
import { attempt, openActivities } from './support';
import { createToolRegistry } from '../../tools';
import { fixedSetups } from '../integration/db/activity-fixture';

let suite: Activities;
beforeAll(async () => {
  suite = await openActivities();
});
afterAll(() => suite.close());

test('a run with MindIE calls the tools that its model wrote into the text, and shows it their results as text', async () => {
  const config = configSchema.parse({
    models: [
      {
        name: 'ascend',
        use: 'deerflow.models.mindie_provider:MindIEChatModel',
        model: 'ascend',
        api_key: 'k',
        base_url: suite.model.baseUrl,
      },
    ],
  });
  const models = createChatModelFactory({ config, log: createSilentLogger() });
  const tools = createToolRegistry({ config, commandsAllowed: true });
  const deps = { ...suite.deps, setups: fixedSetups({ config, models, tools }) };
  const path = '/mnt/user-data/workspace/notes.txt';
  const written = String.raw`<parameter=path>${path}</parameter> <parameter=content>one\ntwo</parameter>`;
  suite.model.script('ascend', [
    say(`I write.\n<tool_call> <function=write_file> ${written} </function> </tool_call>`),
    say('Done.'),
  ]);

  const { runId, threadId } = await suite.admit({ options: { streamModes: ['values', 'messages-tuple'] } });
  await attempt(deps, ({ beginRun }) => beginRun({ runId })).result;
  const decision = await attempt(deps, ({ callModel }) => callModel({ runId, turn: 1 })).result;
  if (decision.kind !== 'tools') throw new Error('expected calls');
  const [call] = decision.calls;
  if (call === undefined) throw new Error('expected a call');
  expect(call.name).toBe('write_file');
  await attempt(deps, ({ runTool }) => runTool({ runId, turn: 1, toolCallId: call.toolCallId })).result;
  await attempt(deps, ({ callModel }) => callModel({ runId, turn: 2 })).result;

  const messages = await suite.messages(threadId);
  expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
  expect(messages[1]).toMatchObject({
    content: 'I write.',
    tool_calls: [{ name: 'write_file', args: { path, content: 'one\ntwo' } }],
  });
  const sent = suite.model.requestsOf('ascend').at(-1)?.body.messages ?? [];
  expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  expect(sent.at(-1)?.content).toMatch(/^<tool_response>\n.*\n<\/tool_response>$/s);
});
