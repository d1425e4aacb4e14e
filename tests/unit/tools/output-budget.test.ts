import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { AppError } from '../../../contracts';
import { HARD_CEILING_CHARS, invokeTool, type Tool } from '../../../tools';
import { previewOf } from '../../../tools/output-preview';
import { cutMiddle, cutTail } from '../../../tools/text-limits';
import { failure } from '../sandbox/support';
import { OUTPUTS, createToolFixture, type ToolFixture, type ToolFixtureOptions } from './support';

let fixture: ToolFixture;
afterEach(() => fixture.close());

async function results(options: ToolFixtureOptions = {}): Promise<void> {
  fixture = await createToolFixture(options);
}

function printed(name: string, content: string, toolCallId = 'call-1'): Promise<string> {
  const tool: Tool = {
    name,
    description: '',
    schema: z.object({}),
    effect: 'none',
    pace: 'quick',
    timeoutMs: () => 5_000,
    execute: async () => ({ content, status: 'success' }),
  };
  return invokeTool(tool, {}, { ...fixture.context, toolCallId }).then((outcome) => outcome.content);
}

const stored = () => readdir(join(fixture.files.directories.outputs, '.tool-results')).catch(() => []);

describe('a long result', () => {
  it('goes to a file, and the model gets a preview that says where', async () => {
    await results();
    const content = Array.from({ length: 2_000 }, (_, index) => `line ${index} of the log`).join('\n');
    const preview = await printed('bash', content);
    const [name] = await stored();
    expect(name).toMatch(/^bash-[0-9a-f]{12}\.log$/);
    const path = `${OUTPUTS}/.tool-results/${name}`;
    const tokens = Math.floor(content.length / 4);
    expect(preview.split('\n')[0]).toBe(
      `[Full bash output saved to ${path} (${content.length} chars, ~${tokens} tokens).]`,
    );
    expect(preview.split('\n')[1]).toBe('[Preview kind: text]');
    expect(preview).toContain('line 0 of the log');
    expect(preview).toContain('line 1999 of the log');
    expect(preview).toContain(`read_file on ${path}`);
    expect(preview.length).toBeLessThan(5_000);
    expect(await readFile(join(fixture.files.directories.outputs, '.tool-results', name ?? ''), 'utf8')).toBe(content);
  });

  it('can be read by the model afterwards, whole and by grep', async () => {
    await results();
    await printed('bash', `needle\n${'x\n'.repeat(8_000)}`);
    const [name] = await stored();
    const path = `${OUTPUTS}/.tool-results/${name}`;
    expect((await fixture.call('read_file', { path })).content).toMatch(/^needle\n/);
    expect((await fixture.call('grep', { path, pattern: 'needle' })).content).toContain(`${path}:1: needle`);
  });

  it('of a repeated call writes the same file, of another call another one', async () => {
    await results();
    const content = 'x'.repeat(13_000);
    expect(await printed('my.tool', content)).toBe(await printed('my.tool', content));
    expect(await stored()).toHaveLength(1);
    await printed('my.tool', content, 'call-2');
    expect(await stored()).toHaveLength(2);
    expect((await stored())[0]).toMatch(/^my_tool-[0-9a-f]{12}\.txt$/);
  });

  it('stays where it is up to the limit, for exempt tools, and where the budget is off', async () => {
    await results({ config: { tool_output: { tool_overrides: { loose: 0, tight: 10 } } } });
    expect(await printed('x', 'x'.repeat(12_000))).toHaveLength(12_000);
    expect(await printed('read_file', 'x'.repeat(20_000))).toHaveLength(20_000);
    expect(await printed('loose', 'x'.repeat(20_000))).toHaveLength(20_000);
    expect(await stored()).toEqual([]);
    expect(await printed('tight', 'x'.repeat(11))).toContain('[Full tight output saved to');
  });

  it('is cut where the file cannot be written', async () => {
    await results();
    await rm(fixture.files.directories.outputs, { recursive: true });
    await writeFile(fixture.files.directories.outputs, 'in the way');
    const cut = await printed('bash', `${'h'.repeat(20_000)}${'t'.repeat(20_000)}`);
    expect(cut).toBe(`${'h'.repeat(8_000)}\n\n... [29000 characters omitted] ...\n\n${'t'.repeat(3_000)}`);
    expect(await printed('bash', 'x'.repeat(30_000))).toHaveLength(30_000);
  });

  it.each(['read_file', 'bash', 'anything'])(
    'of 3 MB never comes inline from %s, whatever is configured',
    async (name) => {
      await results({ config: { tool_output: { enabled: false, fallback_max_chars: 10_000_000 } } });
      const content = await printed(name, 'x'.repeat(3_000_000));
      expect(content.length).toBeLessThanOrEqual(HARD_CEILING_CHARS);
      expect(content).toContain('characters omitted');
    },
  );

  it('of a run that is over becomes no result', async () => {
    const over = new AppError('run_closed', 'over');
    await results({
      wrapSandbox: (sandbox) => ({
        ...sandbox,
        writeFile: () => Promise.reject(over),
      }),
    });
    expect(await failure(printed('bash', 'x'.repeat(20_000)))).toBe(over);
  });
});

describe('the kind of a text', () => {
  beforeEach(() => results());

  it.each([
    ['json', JSON.stringify({ items: [1, 2], name: 'n', inner: { a: 1 } }), 'JSON object with 3 keys'],
    ['json', JSON.stringify([{ id: 1 }]), 'JSON array of 1 items'],
    ['csv', 'a,b,c\n1,2,3\n4,5,6\n', 'Table of 3 columns and 2 rows'],
    ['tsv', 'a\tb\n1\t2\n3\t4\n', 'Table of 2 columns and 2 rows'],
    ['xml', '<?xml version="1.0"?>\n<feed><item/><item/></feed>', 'Markup with the root <feed>'],
    ['yaml', 'name: x\nitems:\n  - a\n  - b\nother: 1\n', 'YAML with 3 keys at the top'],
    ['code', 'import os\nfrom sys import argv\n\ndef main():\n    return 1\n', 'Source text of 6 lines'],
    ['text', '# Report\n\nSome words, and more words.\n', '# Report'],
    ['text', '{ not json', '{ not json'],
    ['unknown', '\x01\x02\x03\x04 binary', ''],
    ['unknown', 'x'.repeat(5_000_001), '5000001 bytes, too large to look into'],
  ])('%s is told from its content (%#)', (kind, text, title) => {
    const preview = previewOf(text);
    expect(preview.kind).toBe(kind);
    if (title !== '') expect(preview.title).toBe(title);
  });

  it('structure and notable lines are short and few', () => {
    const text = `${'Error: it broke '.repeat(50)}\n`.repeat(100);
    const preview = previewOf(text);
    expect(preview.notable).toHaveLength(5);
    expect(Math.max(...preview.notable.map((item) => item.length))).toBeLessThanOrEqual(200);
    expect(
      previewOf(JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i])))).structure,
    ).toHaveLength(10);
  });
});

describe('cutting', () => {
  beforeEach(() => results());

  it.each([0, 1, 20, 60, 61, 62, 100, 999, 1_000])('never exceeds a limit of %d, marker included', (limit) => {
    const text = '😀'.repeat(500);
    for (const cut of [cutMiddle(text, limit), cutTail(text, limit, 'Read less.')]) {
      if (limit === 0) expect(cut).toBe(text);
      else expect(cut.length).toBeLessThanOrEqual(limit);
      expect(cut.isWellFormed()).toBe(true);
    }
  });
});
