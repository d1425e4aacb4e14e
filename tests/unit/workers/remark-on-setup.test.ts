import { configSchema } from '../../../contracts/schemas/config';
import { createChatModelFactory } from '../../../models';
import { createSilentLogger } from '../../../observability';
import { createToolRegistry } from '../../../tools';
import { remarkOnSetup } from '../../../workers/remark-on-setup';

function remarks(document: object, commandsAllowed = true): Array<[object, string]> {
  const config = configSchema.parse(document);
  const lines: Array<[object, string]> = [];
  const models = createChatModelFactory({ config, log: createSilentLogger() });
  const tools = createToolRegistry({ config, commandsAllowed });
  remarkOnSetup({ config, models, tools }, { warn: (...line) => void lines.push(line) });
  return lines;
}

const usable = { name: 'fine', use: 'langchain_openai:ChatOpenAI', model: 'x', api_key: 'k' };

describe('a worker says before any run meets it', () => {
  it('which models cannot be built, each with its key in the file and what is possible there', () => {
    const models = [
      { ...usable, name: 'mistyped', use: 'langchain_opanai:ChatOpenAI' },
      usable,
      { ...usable, name: 'missing', use: 'npm:@example/not-there#ChatModel' },
    ];
    expect(remarks({ models })).toEqual([
      [
        { model: 'mistyped' },
        expect.stringMatching(/config\.yaml: models\[0\]\.use: expected one of langchain_openai/),
      ],
      [{ model: 'missing' }, expect.stringMatching(/models\[2\]\.use: .*npm install @example\/not-there$/)],
    ]);
  });

  it('which tools are not offered, and why', () => {
    const tools = [
      { name: 'web_search', use: 'deerflow.community.tavily.tools:web_search_tool' },
      { name: 'bash', use: 'deerflow.sandbox.tools:bash_tool' },
    ];
    expect(remarks({ tools }, false)).toEqual([
      [{ tool: 'web_search' }, expect.stringContaining('web_search_tool is not available')],
      [{ tool: 'bash' }, expect.stringContaining('commands are not allowed')],
    ]);
  });

  it('nothing where everything can be used', () => {
    expect(remarks({ models: [usable] })).toEqual([]);
    expect(remarks({})).toEqual([]);
  });
});
