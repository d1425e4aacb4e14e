import { configSchema } from '../../../contracts/schemas/config';
import type { JsonObject, Message } from '../../../contracts';
import { createChatModelFactory, startDemoModel } from '../../../models';
import type { ChatModel, DemoModel, ModelReply, ToolDefinition } from '../../../models';
import { createSilentLogger } from '../../../observability';
import { assistant, human, newCall, toolResult } from './support';

let demo: DemoModel;
let model: ChatModel;
beforeAll(async () => {
  demo = await startDemoModel({ wordDelayMs: 0 });
  model = createChatModelFactory({
    config: configSchema.parse({}),
    demoBaseUrl: demo.baseUrl,
    log: createSilentLogger(),
  }).resolve();
});
afterAll(() => demo.close());

const ALL = ['ls', 'read_file', 'write_file', 'present_files'];
const tools = (names: string[]): ToolDefinition[] =>
  names.map((name) => ({ name, description: name, parameters: { type: 'object', properties: {} } }));

interface MadeCall {
  id: string;
  name: string;
  args: JsonObject;
}

/** Plays the loop: asks the model, runs its calls against a folder of files, until it answers with text. */
async function converse(messages: Message[], files: Record<string, string>, names = ALL) {
  const made: MadeCall[][] = [];
  const written = new Map<string, string>();
  for (let turn = 0; turn < 10; turn += 1) {
    const { request } = newCall(messages, tools(names));
    const reply: ModelReply = await model.reply(request);
    if (reply.toolCalls.length === 0) return { text: reply.content, made, written, messages, usage: reply.usage };
    const calls = reply.toolCalls.map((call) => ({
      id: String(call.id),
      name: String(call.name),
      args: JSON.parse(call.args) as JsonObject,
    }));
    made.push(calls);
    messages.push(
      assistant(
        '',
        calls.map(({ id, name, args }) => [id, name, args]),
      ),
    );
    messages.push(...calls.map((call) => toolResult(call.id, run(call, files, written))));
  }
  throw new Error('the model never came to an end');
}

function run({ name, args }: MadeCall, files: Record<string, string>, written: Map<string, string>): string {
  const path = String(args.path);
  switch (name) {
    case 'ls':
      return Object.keys(files).sort().join('\n') || '(empty)';
    case 'read_file':
      return files[path] === undefined ? 'Error: File not found' : files[path] || '(empty)';
    case 'write_file':
      if (files[path] !== undefined) return 'Error: read the file before you change it';
      files[path] = String(args.content);
      written.set(path, String(args.content));
      return 'OK';
    default:
      return 'Successfully presented files';
  }
}

const NOTES = '/mnt/user-data/uploads/notes.md';
const UPLOADS = `<current_uploads>
The following files were uploaded in this message:

- notes.md (0.1 KB)
  Path: ${NOTES}

</current_uploads>

`;

describe('the demo model', () => {
  it('reads the uploaded files, writes a report about them, presents it and says what it is', async () => {
    const files = { [NOTES]: '# Plans\n\nriver river bridge\n## Costs\nthe river\n' };
    const { text, made, written } = await converse([human(`${UPLOADS}Summarise my notes, please!`)], files);
    const path = '/mnt/user-data/outputs/summarise-my-notes-please-report.md';
    expect(made.map((calls) => calls.map(({ name }) => name))).toEqual([
      ['read_file'],
      ['write_file'],
      ['present_files'],
    ]);
    expect(made[2]?.[0]?.args).toEqual({ filepaths: [path] });
    const report = written.get(path) ?? '';
    expect(report).toContain('# Report: Summarise my notes, please!');
    expect(report).toContain('> Summarise my notes, please!');
    expect(report).toContain('| notes.md | 5 | 9 | 47 |');
    expect(report).toContain('Size: 5 lines, 9 words, 47 characters.');
    expect(report).toContain('river (3), bridge (1), costs (1), plans (1)');
    expect(report).toContain('- Plans\n- Costs');
    expect(report).not.toContain('current_uploads');
    expect(text).toMatch(/built-in demo model/);
    expect(text).toContain('I read notes.md.');
    expect(text).toContain(path);
    expect(text).toContain('config.yaml');
  });

  it('looks into the upload folder where the message names no files, and reads at most five at once', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `/mnt/user-data/uploads/f${index}.txt`);
    const files = Object.fromEntries([...names, '/mnt/user-data/uploads/sub/'].map((name) => [name, 'text']));
    const { made } = await converse([human('Count')], files);
    expect(made[0]?.map(({ name, args }) => [name, args.path])).toEqual([['ls', '/mnt/user-data/uploads']]);
    expect(made[1]?.map(({ args }) => args.path)).toEqual(names.slice(0, 5));
    expect(new Set(made.flat().map(({ id }) => id)).size).toBe(made.flat().length);
  });

  it('writes a report even without files, and mentions a file that cannot be read', async () => {
    const without = await converse([human('Say something')], {});
    expect([...without.written.values()][0]).toContain('No files were uploaded.');
    const unreadable = await converse([human(`${UPLOADS}Look`)], {});
    expect([...unreadable.written.values()][0]).toContain('could not be read. The tool said: Error: File not found');
    expect(unreadable.text).toContain('I could not read notes.md');
  });

  it('takes a new name for each report of a conversation, also where a forgotten file is in the way', async () => {
    const files: Record<string, string> = {};
    const first = await converse([human('Again')], files);
    const second = await converse([...first.messages, assistant(first.text), human('Again')], files);
    expect([...second.written.keys()]).toEqual(['/mnt/user-data/outputs/again-report-2.md']);
    const forgotten = await converse([human('Again')], files);
    expect([...forgotten.written.keys()]).toEqual(['/mnt/user-data/outputs/again-report-3.md']);
    expect(forgotten.text).toContain('again-report-3.md');
  });

  it.each([[[]], [['ls']], [['read_file']], [['ls', 'read_file', 'present_files']], [['write_file']]])(
    'comes to an end with only the tools %j',
    async (names) => {
      const { text, written } = await converse([human(`${UPLOADS}Look`)], { [NOTES]: 'x' }, names);
      expect(text).toMatch(/built-in demo model/);
      expect(written.size).toBe(names.includes('write_file') ? 1 : 0);
      if (written.size === 0) expect(text).toContain('# Report: Look');
    },
  );

  it('answers the newest wish, not the notes that the server adds after it', async () => {
    const messages = [
      human('Old wish'),
      assistant('done'),
      human('New wish'),
      human('[LOOP DETECTED] stop'),
      human('<system-reminder>x</system-reminder>'),
    ];
    const { written } = await converse(messages, {});
    expect([...written.keys()]).toEqual(['/mnt/user-data/outputs/new-wish-report.md']);
  });

  it('copes with any language and with text that looks like Markdown', async () => {
    const files = { [NOTES]: '````\ncode fence\n````\n| a | b |\n' };
    const { written } = await converse([human(`${UPLOADS}分析这个文件`)], files);
    const [[path, report] = ['', '']] = [...written];
    expect(path).toBe('/mnt/user-data/outputs/request-report.md');
    expect(report).toContain('> 分析这个文件');
    expect(report).toContain('`````text\n````\ncode fence\n````');
  });

  it('gives the same answer to the same conversation', async () => {
    const ask = () => model.reply(newCall([human('Same')], tools(ALL)).request);
    expect(await ask()).toEqual(await ask());
  });

  it('streams its text word by word and counts tokens', async () => {
    const { request, deltas } = newCall([human('Hi')], []);
    const reply = await model.reply(request);
    expect(deltas.length).toBeGreaterThan(50);
    expect(deltas.map((delta) => delta.content).join('')).toBe(reply.content);
    expect(reply.usage?.output_tokens).toBeGreaterThan(20);
  });

  it('also speaks without streaming, and refuses what is no request', async () => {
    const post = (body: string, path = '/chat/completions') => fetch(demo.baseUrl + path, { method: 'POST', body });
    const whole = await post(JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }));
    expect(await whole.json()).toMatchObject({ choices: [{ message: { role: 'assistant' }, finish_reason: 'stop' }] });
    expect((await post('{"messages": 5}')).status).toBe(400);
    expect((await post('{}', '/models')).status).toBe(404);
  });
});
