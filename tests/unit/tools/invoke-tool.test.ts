import { z } from 'zod';
import { AppError } from '../../../contracts';
import { invokeTool, unknownToolOutcome, type Tool, type ToolContext, type ToolOutcome } from '../../../tools';
import { failure, never, testConfig } from '../sandbox/support';
import { WORKSPACE, createToolFixture, type ToolFixture } from './support';

const schema = z.object({
  description: z.string().optional(),
  text: z.string(),
  count: z.int().default(1),
  flag: z.boolean().default(false),
  range: z.int().nullable().default(null),
  names: z.array(z.string()).default([]),
});

function context(changes: Partial<ToolContext> = {}): ToolContext {
  return {
    runId: 'run-1',
    threadId: 'thread-1',
    owner: 'alice',
    toolCallId: 'call-1',
    config: testConfig(),
    signal: never,
    sandbox: async () => {
      throw new AppError('sandbox', 'no sandbox here');
    },
    readMark: () => undefined,
    toolNames: ['probe'],
    ...changes,
  };
}

function probe(execute: Tool<typeof schema>['execute'], timeoutMs = 5_000): Tool {
  return {
    name: 'probe',
    description: 'x',
    schema,
    effect: 'none',
    pace: 'quick',
    timeoutMs: () => timeoutMs,
    execute,
  };
}

const echo = probe(async (args) => ({ content: JSON.stringify(args), status: 'success' }));
const meta = (outcome: ToolOutcome) => outcome.additionalKwargs?.deerflow_tool_meta;

describe('arguments', () => {
  it('that are missing are named, with what was sent', async () => {
    const outcome = await invokeTool(echo, { nope: 1, 'b"c': [true, null, "it's"] }, context());
    expect(outcome.status).toBe('error');
    expect(outcome.content).toBe(
      `Error invoking tool 'probe' with kwargs {'nope': 1, 'b"c': [True, None, "it's"]} with error:\n text: Field required\n Please fix the error and try again.`,
    );
    expect(meta(outcome)).toEqual({
      status: 'error',
      error_type: 'unknown',
      recoverable_by_model: true,
      recommended_next_action: 'try_alternative',
      source: 'tool_return',
    });
  });

  it('of wrong types are named one by one', async () => {
    const outcome = await invokeTool(echo, { text: 1, count: 'x', flag: 'maybe', names: ['a', 2] }, context());
    expect(outcome.content).toContain(
      [
        'text: Input should be a valid string',
        'count: Input should be a valid integer',
        'flag: Input should be a valid boolean',
        'names.1: Input should be a valid string',
      ].join('\n'),
    );
  });

  it('written as text are understood', async () => {
    const outcome = await invokeTool(
      echo,
      { text: 'a', count: '3', flag: 'True', range: 'null', description: null, extra: 1 },
      context(),
    );
    expect(JSON.parse(outcome.content)).toEqual({ text: 'a', count: 3, flag: true, range: null, names: [] });
  });

  it('that are huge are not repeated whole', async () => {
    const outcome = await invokeTool(echo, { content: 'x'.repeat(80_000) }, context());
    expect(outcome.content.length).toBeLessThan(2_000);
  });
});

describe('failures', () => {
  it('an unexpected exception becomes a result with its class, without paths of this machine', async () => {
    const tool = probe(async () => {
      throw new RangeError(
        `cannot open '/srv/home/secret/file.txt' near /mnt/user-data/workspace/a ${'x'.repeat(600)}`,
      );
    });
    const outcome = await invokeTool(tool, { text: 'a' }, context());
    expect(outcome.status).toBe('error');
    expect(outcome.content).toMatch(
      /^Error: Tool 'probe' failed with RangeError: cannot open '\[path\]' near \/mnt\/user-data\/workspace\/a x+\. /,
    );
    expect(outcome.content.length).toBeLessThan(700);
    expect(meta(outcome)).toMatchObject({ status: 'error', source: 'exception' });
  });

  it.each([
    [new AppError('not_found', 'File not found: x'), 'not_found', true, 'rewrite_query'],
    [new AppError('forbidden', 'no'), 'permission', true, 'try_alternative'],
    [new AppError('unavailable', 'later'), 'transient', false, 'try_alternative'],
    [new AppError('configuration', 'bad'), 'config', false, 'stop'],
  ])('%s of the catalogue keeps its words', async (error, type, recoverable, action) => {
    const outcome = await invokeTool(
      probe(() => Promise.reject(error)),
      { text: 'a' },
      context(),
    );
    expect(outcome.content).toBe(`Error: ${error.message}`);
    expect(meta(outcome)).toEqual({
      status: 'error',
      error_type: type,
      recoverable_by_model: recoverable,
      recommended_next_action: action,
      source: 'tool_return',
    });
  });

  it('something thrown that is no error is a result too', async () => {
    const outcome = await invokeTool(
      probe(() => {
        const thrown: unknown = 'just text';
        throw thrown;
      }),
      { text: 'a' },
      context(),
    );
    expect(outcome.content).toContain("Tool 'probe' failed with Error: just text.");
  });

  it.each(['run_closed', 'run_cancelled'] as const)('%s ends the call without a result', async (code) => {
    const error = new AppError(code, 'over');
    expect(
      await failure(
        invokeTool(
          probe(() => Promise.reject(error)),
          { text: 'a' },
          context(),
        ),
      ),
    ).toBe(error);
  });

  it('a cancelled call ends with the reason, whatever the tool makes of it', async () => {
    const reason = new Error('stopped');
    const controller = new AbortController();
    const tools = [
      probe(() => new Promise((_, reject) => setTimeout(() => reject(new Error('other')), 100))),
      probe(async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw new AppError('sandbox', 'interrupted');
      }),
    ];
    setTimeout(() => controller.abort(reason), 20);
    for (const tool of tools) {
      expect(await failure(invokeTool(tool, { text: 'a' }, context({ signal: controller.signal })))).toBe(reason);
    }
    let started = false;
    const late = probe(async () => {
      started = true;
      return { content: '', status: 'success' };
    });
    expect(await failure(invokeTool(late, { text: 'a' }, context({ signal: controller.signal })))).toBe(reason);
    expect(started).toBe(false);
  });

  it('a tool over its time is told to stop, and the result says so', async () => {
    let told = false;
    const tool = probe(async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      told = true;
      throw new Error('interrupted');
    }, 50);
    const outcome = await invokeTool(tool, { text: 'a' }, context());
    expect(told).toBe(true);
    expect(outcome.content).toMatch(/^Error: Tool 'probe' failed with TimeoutError: no result within 0.05 seconds\. /);
    expect(meta(outcome)).toMatchObject({ error_type: 'transient' });
  });

  it('a tool that ignores the signal does not hold the run', async () => {
    const started = Date.now();
    const outcome = await invokeTool(
      probe(() => new Promise(() => undefined), 50),
      { text: 'a' },
      context(),
    );
    expect(outcome.status).toBe('error');
    expect(Date.now() - started).toBeLessThan(8_000);
  });
});

describe('results', () => {
  const result = (outcome: ToolOutcome) =>
    invokeTool(
      probe(async () => outcome),
      { text: 'a' },
      context(),
    );

  it('of success say so in the form that clients know', async () => {
    expect(meta(await result({ content: 'fine', status: 'success' }))).toEqual({
      status: 'success',
      error_type: null,
      recoverable_by_model: true,
      recommended_next_action: 'continue',
      source: 'content_analysis',
    });
  });

  it.each([
    ['Error: rate limit exceeded (429)', 'rate_limited'],
    ['Error: 401 Unauthorized', 'auth'],
    ['Error: the service is not configured', 'config'],
    ['Error: permission denied', 'permission'],
    ['Error: No results for that query', 'no_results'],
    ['Error: page does not exist', 'not_found'],
    ['Error: connection refused', 'transient'],
    ['Error: it broke', 'unknown'],
  ])('%s is of type %s', async (content, type) => {
    expect(meta(await result({ content, status: 'error' }))).toMatchObject({ status: 'error', error_type: type });
  });

  it('a fetched error page is an error, a page about errors is none', async () => {
    const fetched = async (content: string) =>
      meta(
        await invokeTool(
          { ...probe(async () => ({ content, status: 'success' })), name: 'web_fetch' },
          { text: '' },
          context(),
        ),
      );
    expect(await fetched('# 404 Not Found\n\nsorry')).toMatchObject({ status: 'error', error_type: 'not_found' });
    expect(await fetched('# Handling errors\n\n404 is common')).toMatchObject({ status: 'success' });
  });

  it('hold nothing that a database refuses', async () => {
    const outcome = await result({
      content: 'a\0b\uD800c',
      status: 'success',
      artifact: { 'k\0': ['x\0', '\uDC00'] },
      additionalKwargs: { note: 'n\0' },
    });
    expect(outcome.content).toBe('ab\uFFFDc');
    expect(outcome.artifact).toEqual({ k: ['x', '\uFFFD'] });
    expect(outcome.additionalKwargs).toMatchObject({ note: 'n' });
  });

  it('lose an artifact that is too large to store', async () => {
    expect((await result({ content: 'a', status: 'success', artifact: 'x'.repeat(1_000_001) })).artifact).toBeNull();
  });
});

it('an unknown tool is answered with the names that there are', () => {
  const outcome = unknownToolOutcome('no_such_tool', ['ls', 'grep']);
  expect(outcome.content).toBe('Error: no_such_tool is not a valid tool, try one of [ls, grep].');
  expect(outcome.status).toBe('error');
  expect(meta(outcome)).toMatchObject({ status: 'error' });
});

describe('the search tools', () => {
  let fixture: ToolFixture;
  beforeEach(async () => {
    fixture = await createToolFixture();
  });
  afterEach(() => fixture.close());

  it('an expression that would run for ever is an error and not a frozen worker', async () => {
    await fixture.put('a.txt', `${'a'.repeat(60)}b`);
    const started = Date.now();
    const outcome = await fixture.call('grep', { pattern: '^(a+)+$', path: WORKSPACE });
    expect(outcome.content).toContain('takes too long');
    expect(Date.now() - started).toBeLessThan(3_000);
  });
});
