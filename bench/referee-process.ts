/**
 * The scripted model as a process of its own: whoever is measured does not share a processor queue with it inside one
 * event loop. Prints its address as one line of JSON, answers each line on its standard input with what it counted, and
 * ends when its standard input does.
 */
import { createInterface } from 'node:readline';
import type { WireRequest } from '../models/demo/completion-wire';
import { wireText } from '../models/demo/completion-wire';
import { planOf } from '../tests/support/fake-model/plan';
import { startFakeModel } from '../tests/support/fake-model/server';
import { createGrowingConversations } from './growing-conversations';
import type { PeerTool } from './peer-protocol';
import type { RefereeCounts } from './referee';

async function main(): Promise<void> {
  const askedAt: Record<string, number[][]> = {};
  let requests = 0;
  let first: RefereeCounts['first'] = null;

  const observe = (request: WireRequest): void => {
    requests += 1;
    const tools = request.tools ?? [];
    if (first === null && tools.length > 0)
      first = { system: wireText(request.messages[0]?.content), tools: tools as PeerTool[] };
    const plan = planOf(request);
    const tag = plan?.options.get('tag');
    if (plan === null || tag === undefined) return;
    const turns = (askedAt[tag] ??= []);
    (turns[plan.turn - 1] ??= []).push(Date.now());
  };

  const model = await startFakeModel({ record: false, parse: createGrowingConversations(), observe });
  process.stdout.write(`${JSON.stringify({ baseUrl: model.baseUrl })}\n`);
  const lines = createInterface(process.stdin);
  lines.on('line', () => {
    const counts: RefereeCounts = {
      requests,
      calls: Object.fromEntries(
        Object.entries(askedAt).map(([tag, turns]) => [tag, turns.map(({ length }) => length)]),
      ),
      askedAt,
      first,
      complaints: [...model.violations, ...model.unexpected.map(() => 'a request without a plan')],
    };
    process.stdout.write(`${JSON.stringify(counts)}\n`);
  });
  lines.once('close', () => void model.close());
  // Ctrl-C in a terminal reaches every process of the group; the benchmark ends this one in its turn.
  process.on('SIGINT', () => undefined);
}

void main();
