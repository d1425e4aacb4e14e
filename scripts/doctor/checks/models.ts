import type { Config } from '../../../contracts/schemas/config';
import { isAppError } from '../../../contracts';
import type { Message } from '../../../contracts';
import { createChatModelFactory } from '../../../models';
import type { ChatModelFactory, ModelLog } from '../../../models';
import type { Finding } from '../finding';

const ABOUT = 'models';
const LIVE_TIMEOUT_MS = 30_000;

export interface ModelsCheckOptions {
  config: Config;
  env: Readonly<Record<string, string | undefined>>;
  /** Ask each model for one word. */
  live: boolean;
}

export async function checkModels({ config, env, live }: ModelsCheckOptions): Promise<Finding[]> {
  if (config.models.length === 0) {
    const text = 'no model is configured: the built-in demo model answers';
    return [{ about: ABOUT, status: 'warning', text, remedy: 'add one under `models` in config.yaml' }];
  }
  const findings: Finding[] = [];
  const log: ModelLog = { warn: (details, text) => void findings.push(remark(details, text)) };
  const factory = createChatModelFactory({ config, env, log });
  for (const { name } of config.models) findings.push(await checkModel(factory, name, live));
  return findings;
}

/** What the log of a worker would say of the model's entry. */
function remark({ model, keys, key }: Parameters<ModelLog['warn']>[0], text: string): Finding {
  const named = Array.isArray(keys) ? ` (${keys.join(', ')})` : typeof key === 'string' ? ` (${key})` : '';
  return { about: ABOUT, status: 'warning', text: `${model}: ${text}${named}` };
}

async function checkModel(factory: ChatModelFactory, name: string, live: boolean): Promise<Finding> {
  const begun = performance.now();
  try {
    const model = factory.resolve(name);
    if (!live) return { about: ABOUT, status: 'ok', text: `${name} can be built; --live asks it a question` };
    const signal = AbortSignal.timeout(LIVE_TIMEOUT_MS);
    await model.reply({ system: 'Answer with one word.', messages: [question()], tools: [], signal });
    return { about: ABOUT, status: 'ok', text: `${name} answered after ${Math.round(performance.now() - begun)} ms` };
  } catch (error) {
    if (isAppError(error)) return { about: ABOUT, status: 'refused', text: `${name}: ${error.message}` };
    const text = `${name} did not answer within ${LIVE_TIMEOUT_MS / 1000} s`;
    return { about: ABOUT, status: 'refused', text, remedy: 'check its base_url and the network' };
  }
}

function question(): Message {
  return {
    type: 'human',
    id: 'doctor',
    content: 'Say ok.',
    additional_kwargs: {},
    response_metadata: {},
    name: null,
  };
}
