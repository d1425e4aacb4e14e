import { say } from '../support/fake-model';
import type { Activities } from './support';
import { attempt, openActivities, underConfig } from './support';

/** Texts of the operator around the prompt of the lead agent, as the provider gets them. */
let suite: Activities;
beforeAll(async () => {
  suite = await openActivities();
});
afterAll(() => suite.close());

async function promptUnder(config: object): Promise<string> {
  const deps = await underConfig(suite, { ...config });
  suite.model.script('scripted', [say('done')]);
  const { runId } = await suite.admit();
  await attempt(deps, ({ beginRun }) => beginRun({ runId })).result;
  await attempt(deps, ({ callModel }) => callModel({ runId, turn: 1 })).result;
  return String(suite.model.requests.at(-1)?.body.messages[0]?.content);
}

test('without any the prompt is the same to the byte, however little is written', async () => {
  const usual = await promptUnder({});
  for (const overlay of [null, {}, { prepend: '' }, { append: null }, { prepend: '', append: '' }]) {
    expect(await promptUnder({ lead_prompt_overlay: overlay })).toBe(usual);
  }
});

test('they stand around it, two line breaks apart, and braces and dollars in them mean nothing', async () => {
  const usual = await promptUnder({});
  const [prepend, append] = ['For {conversation}: $5 {{x}}', '{"json": [1]} %s'];
  expect(await promptUnder({ lead_prompt_overlay: { prepend, append } })).toBe(`${prepend}\n\n${usual}\n\n${append}`);
  expect(await promptUnder({ lead_prompt_overlay: { append } })).toBe(`${usual}\n\n${append}`);
});
