import { configSchema } from '../../../contracts/schemas/config';
import { createChatModelFactory } from '../../../models';
import { createSilentLogger } from '../../../observability';

const entry = (name: string, request_admission?: object) => ({
  name,
  use: 'langchain_openai:ChatOpenAI',
  model: name,
  api_key: 'k',
  ...(request_admission && { request_admission }),
});
const factory = (...models: object[]) =>
  createChatModelFactory({ config: configSchema.parse({ models }), log: createSilentLogger() });

const PACE = { requests_per_minute: 60, group: 'g' };
const CONFLICT =
  'Model request admission policy changed or conflicts within a shared group; align settings and restart the Gateway.';

describe('models of one group', () => {
  it.each([{ requests_per_minute: 30 }, { max_wait_seconds: 5 }, { max_queue_size: 1 }])(
    'cannot be built where one of them has another pace: %j',
    (other) => {
      const { resolve } = factory(entry('a', PACE), entry('b', { ...PACE, ...other }));
      for (const name of ['a', 'b']) expect(() => resolve(name)).toThrow(CONFLICT);
    },
  );

  it('have one pace, and say nothing of models without a group or of another one', () => {
    const { resolve, names } = factory(
      entry('a', PACE),
      entry('b', PACE),
      entry('g', { requests_per_minute: 1 }),
      entry('c', { ...PACE, group: 'h', requests_per_minute: 2 }),
      entry('d'),
    );
    for (const name of names()) expect(() => resolve(name)).not.toThrow();
  });
});
