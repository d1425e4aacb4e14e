import { configSchema } from '../../../contracts/schemas/config';
import { createChatModelFactory } from '../../../models';
import { createLogger } from '../../../observability';
import { say, startFakeModel } from '../../support/fake-model';
import { failureOf, newCall } from './support';

function factory(models: object[], demoBaseUrl?: string) {
  const lines: string[] = [];
  const log = createLogger({ name: 'test', destination: { write: (line) => void lines.push(line) } });
  const config = configSchema.parse({ models });
  return { lines, ...createChatModelFactory({ config, log, demoBaseUrl }) };
}

const A = {
  name: 'a',
  use: 'langchain_openai:ChatOpenAI',
  model: 'gpt-a',
  api_key: 'sk-hidden',
  display_name: 'Model A',
};
const B = {
  name: 'b',
  use: 'langchain_deepseek:ChatDeepSeek',
  model: 'deep',
  api_key: 'sk-hidden',
  supports_thinking: true,
};

describe('the models of the configuration', () => {
  it('are offered in order, the first as default', () => {
    const { names, resolve } = factory([A, B]);
    expect(names()).toEqual(['a', 'b']);
    expect(resolve().name).toBe('a');
    expect(resolve('b').name).toBe('b');
  });

  it('stand in for a name that does not exist, with a warning', () => {
    const { resolve, lines } = factory([A, B]);
    expect(resolve('gone').name).toBe('a');
    expect(lines.join()).toContain('"model":"gone","instead":"a"');
  });

  it('may include one that cannot be built: it fails when it is asked for, naming the key', () => {
    const { names, resolve } = factory([A, { ...A, name: 'x', use: 'langchain_example:ChatExample' }]);
    expect(names()).toEqual(['a', 'x']);
    expect(resolve('a').name).toBe('a');
    expect(() => resolve('x')).toThrow(
      expect.objectContaining({
        code: 'configuration',
        message: expect.stringMatching(
          /^config\.yaml: models\[1\]\.use: expected one of langchain_openai:ChatOpenAI, /,
        ),
      }),
    );
  });

  it.each([
    [{ base_url: 'ftp://x' }, /^config\.yaml: models\[0\]\.base_url: expected an http/],
    [
      { use: 'langchain_deepseek:ChatDeepSeek', use_responses_api: true },
      /^config\.yaml: models\[0\]\.use_responses_api: expected false/,
    ],
    [{ use: 'toString' }, /^config\.yaml: models\[0\]\.use: expected one of/],
  ])('name the key of %j', (change, message) => {
    expect(() => factory([{ ...A, ...change }]).resolve()).toThrow(
      expect.objectContaining({ code: 'configuration', message: expect.stringMatching(message) }),
    );
  });

  it('warn about keys that have no effect, once', () => {
    const { resolve, lines } = factory([{ ...A, temprature: 1 }]);
    resolve();
    resolve();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('"keys":["temprature"]');
  });

  it('send the key of the entry to the address of the entry; base_url wins over api_base', async () => {
    const [one, other] = [await startFakeModel(), await startFakeModel()];
    try {
      one.script('gpt-a', [say('one'), say('one')]);
      const old = factory([{ ...A, api_base: one.baseUrl }]);
      expect((await old.resolve().reply(newCall().request)).content).toBe('one');
      const both = factory([{ ...A, api_base: other.baseUrl, base_url: one.baseUrl }]);
      expect((await both.resolve().reply(newCall().request)).content).toBe('one');
      expect(both.lines.join()).toContain('base_url wins');
      expect(one.requests[0]?.headers.authorization).toBe('Bearer sk-hidden');
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  });

  it('without a key fail with words that say where to put it', async () => {
    const saved = process.env.OPENAI_API_KEY;
    delete process.env.OPENAI_API_KEY;
    try {
      const { resolve } = factory([{ ...A, api_key: null, base_url: 'http://127.0.0.1:1/v1' }]);
      const error = await failureOf(resolve().reply(newCall().request));
      expect(error).toMatchObject({
        code: 'model_auth',
        message: expect.stringContaining('set api_key in config.yaml'),
      });
    } finally {
      if (saved !== undefined) process.env.OPENAI_API_KEY = saved;
    }
  });
});

describe('without any model in the configuration', () => {
  it('the demo model is offered, and only then', () => {
    expect(factory([], 'http://127.0.0.1:9/v1').names()).toEqual(['demo']);
    expect(factory([A], 'http://127.0.0.1:9/v1').names()).toEqual(['a']);
  });

  it('and without a demo model a run fails before any call', () => {
    expect(() => factory([]).resolve()).toThrow(expect.objectContaining({ code: 'model_not_configured' }));
  });
});
