/** Evidence of a cluster in which everything went well although much went wrong. Tests break one promise of it each. */
import type { AiMessage, HumanMessage, Message, ToolMessage } from '../../../contracts';
import { runWorkflowId } from '../../../contracts';
import type { Evidence } from '../../faults/checker';
import { DEFAULT_LIMITS } from '../../faults/checker';

/** A run whose second tool was cut off by the death of its worker; its thread is that of no other run. */
export const FIRST = '00000000-0000-4000-8000-000000000001';
/** A run that was stopped by its user while a tool was at work. */
export const STOPPED = '00000000-0000-4000-8000-000000000002';
export const THREAD = 'thread-1';
export const STOPPED_THREAD = 'thread-2';

const BEGIN = 1_800_000_000_000;
const UNKNOWN = 'Error: the worker stopped while this tool was running, so its outcome is unknown.';

const base = { additional_kwargs: {}, response_metadata: {}, name: null };

function human(id: string, content: string): HumanMessage {
  return { ...base, type: 'human', id, content };
}

function reply(id: string, calls: Array<[id: string, command: string]>, tokens: number): AiMessage {
  const usage = { input_tokens: tokens, output_tokens: 1, total_tokens: tokens + 1 };
  const toolCalls = calls.map(([callId, command]) => ({
    type: 'tool_call' as const,
    id: callId,
    name: 'bash',
    args: { command },
  }));
  return {
    ...base,
    type: 'ai',
    id,
    content: calls.length === 0 ? 'done' : '',
    tool_calls: toolCalls,
    invalid_tool_calls: [],
    usage_metadata: usage,
  };
}

function result(id: string, callId: string, status: 'success' | 'error', content: string): ToolMessage {
  return { ...base, type: 'tool', id, tool_call_id: callId, status, content, name: 'bash', artifact: null };
}

function log(threadId: string, runId: string, bodies: readonly Message[]): Evidence['messages'] {
  return bodies.map((body, index) => ({
    threadId,
    runId,
    since: index + 1,
    until: null,
    position: (index + 1) * 10_000,
    body,
  }));
}

function eventsOf(runId: string, kinds: readonly string[]): Evidence['events'] {
  return kinds.map((kind, number) => ({ runId, number, at: BEGIN + 10 * number, kind }));
}

const FIRST_KINDS = ['run-start', 'text-delta', 'message', 'state', 'text-delta', 'run-end'] as const;

/** The frames of the first run, as every reader of it sees them. */
function framesOf(from: number, to: number): Evidence['subscriptions'][number]['connections'][number]['frames'] {
  const names = { 'run-start': 'metadata', 'text-delta': 'messages', message: 'messages', state: 'values' };
  return FIRST_KINDS.slice(from, to).map((kind, place) =>
    kind === 'run-end'
      ? { event: 'end', id: null, data: 'null' }
      : { event: names[kind], id: `${BEGIN + 10 * (from + place)}-${from + place}`, data: `{"part":${from + place}}` },
  );
}

export function soundEvidence(): Evidence {
  const modes: Evidence['subscriptions'][number]['modes'] = ['messages-tuple', 'values'];
  return {
    accepted: [
      { runId: FIRST, threadId: THREAD },
      { runId: STOPPED, threadId: STOPPED_THREAD, cancelled: 'interrupt' },
    ],
    runs: [
      run({ runId: FIRST, threadId: THREAD, key: 'key-one', llmCallCount: 3, inputTokens: 60, totalTokens: 63 }),
      {
        ...run({
          runId: STOPPED,
          threadId: STOPPED_THREAD,
          key: 'key-two',
          llmCallCount: 1,
          inputTokens: 5,
          totalTokens: 6,
        }),
        status: 'interrupted',
      },
    ],
    events: [...eventsOf(FIRST, FIRST_KINDS), ...eventsOf(STOPPED, ['run-start', 'message', 'run-end'])],
    messages: [
      ...log(THREAD, FIRST, [
        human('h1', 'key-one please'),
        reply(
          'a1',
          [
            ['c1', 'echo "fx-one-1-0 done"'],
            ['c2', 'echo "fx-one-1-1 done"'],
          ],
          10,
        ),
        result('t1', 'c1', 'success', 'OK'),
        result('t2', 'c2', 'success', 'OK'),
        // The provider used an id again.
        reply('a2', [['c1', 'echo "fx-one-2-0 begun"; sleep 9; echo "fx-one-2-0 ended"']], 20),
        result('t3', 'c1', 'error', UNKNOWN),
        reply('a3', [], 30),
      ]),
      ...log(STOPPED_THREAD, STOPPED, [
        human('h2', 'key-two please'),
        reply('b1', [['d1', 'echo "fx-two-1-0 begun"; sleep 9; echo "fx-two-1-0 ended"']], 5),
        result('u1', 'd1', 'error', 'Error: this tool call was cancelled by the user before it gave a result.'),
      ]),
    ],
    turns: [
      { runId: FIRST, turn: 0, messageId: 'h1', committedAt: null },
      { runId: FIRST, turn: 1, messageId: 'a1', committedAt: BEGIN + 1_000 },
      { runId: FIRST, turn: 2, messageId: 'a2', committedAt: BEGIN + 2_000 },
      { runId: FIRST, turn: 3, messageId: 'a3', committedAt: BEGIN + 20_000 },
      { runId: STOPPED, turn: 0, messageId: 'h2', committedAt: null },
      { runId: STOPPED, turn: 1, messageId: 'b1', committedAt: BEGIN + 1_000 },
    ],
    toolCalls: [
      toolCall(FIRST, 1, 0, 'c1', 'a1'),
      toolCall(FIRST, 1, 1, 'c2', 'a1'),
      toolCall(FIRST, 2, 0, 'c1', 'a2'),
      { ...toolCall(STOPPED, 1, 0, 'd1', 'b1'), state: 'started', endedAt: null },
    ],
    streams: [
      { runId: FIRST, nextNumber: FIRST_KINDS.length, closed: true },
      { runId: STOPPED, nextNumber: 3, closed: true },
    ],
    secrets: [],
    threads: [
      { threadId: THREAD, status: 'idle', hold: null, waitsFor: [] },
      { threadId: STOPPED_THREAD, status: 'idle', hold: null, waitsFor: [] },
    ],
    journal: [FIRST, STOPPED].flatMap((runId) => {
      const threadId = runId === FIRST ? THREAD : STOPPED_THREAD;
      const end = runId === FIRST ? 'run.end' : 'run.error';
      return ['run.start', end, 'run.delivery'].map((eventType, index) => ({
        threadId,
        runId,
        sequence: index + 1,
        eventType,
        messageId: null,
      }));
    }),
    modelRequests: [
      question('q1', 'key-one', 1, BEGIN + 900, 11),
      // Cut off by the death of a worker, and asked for again.
      { ...question('q2', 'key-one', 2, BEGIN + 1_600, 21), answeredAt: null, totalTokens: null },
      { ...question('q3', 'key-one', 2, BEGIN + 1_900, 21), attempt: 2 },
      { ...question('q4', 'key-one', 3, BEGIN + 19_000, 31), unknownOutcomes: 1 },
      question('q5', 'key-two', 1, BEGIN + 900, 6),
    ],
    effects: [
      { token: 'fx-one-1-0', phase: 'done', file: 'effects.txt' },
      { token: 'fx-one-1-1', phase: 'done', file: 'effects.txt' },
      { token: 'fx-one-2-0', phase: 'begun', file: 'effects.txt' },
      { token: 'fx-two-1-0', phase: 'begun', file: 'effects.txt' },
    ],
    subscriptions: [
      {
        runId: FIRST,
        reader: 'steady',
        modes: [...modes],
        connections: [{ api: 'api-1', lastEventId: null, frames: framesOf(0, 6) }],
      },
      {
        runId: FIRST,
        reader: 'resuming',
        modes: [...modes],
        connections: [
          { api: 'api-1', lastEventId: null, frames: framesOf(0, 3) },
          { api: 'api-2', lastEventId: `${BEGIN + 20}-2`, frames: framesOf(3, 6) },
        ],
      },
      {
        runId: FIRST,
        reader: 'words only',
        modes: ['messages-tuple'],
        connections: [
          { api: 'api-2', lastEventId: null, frames: framesOf(0, 6).filter(({ event }) => event !== 'values') },
        ],
      },
      {
        runId: STOPPED,
        reader: 'steady',
        modes: [...modes],
        connections: [
          {
            api: 'api-1',
            lastEventId: null,
            // It went away.
            frames: [{ event: 'metadata', id: `${BEGIN}-0`, data: '{}' }],
          },
        ],
      },
    ],
    workflows: [
      { ...workflow(runWorkflowId(FIRST), 'e1'), status: 'CONTINUED_AS_NEW' },
      workflow(runWorkflowId(FIRST), 'e2'),
      workflow(runWorkflowId(STOPPED), 'e3'),
      { ...workflow('reconcile-runs-1', 'e4'), status: 'RUNNING' },
    ],
    strayProcesses: [],
    connections: [
      { application: 'deerflow worker', state: 'idle', transactionMs: null },
      { application: 'deerflow worker', state: 'active', transactionMs: 3 },
      { application: 'deerflow api', state: 'idle', transactionMs: null },
    ],
    disturbances: [{ process: 'worker-1', from: BEGIN + 1_500, to: BEGIN + 7_500 }],
    limits: { ...DEFAULT_LIMITS, connections: { 'deerflow worker': 2, 'deerflow api': 2 } },
  };
}

type RunFact = Evidence['runs'][number];

function run(
  facts: Pick<RunFact, 'runId' | 'threadId' | 'key' | 'llmCallCount' | 'inputTokens' | 'totalTokens'>,
): RunFact {
  return {
    status: 'success',
    admission: 'ended',
    errorCode: null,
    outputTokens: facts.llmCallCount,
    createdAt: BEGIN,
    endedAt: BEGIN + 30_000,
    ...facts,
  };
}

function toolCall(
  runId: string,
  turn: number,
  place: number,
  toolCallId: string,
  messageId: string,
): Evidence['toolCalls'][number] {
  return {
    runId,
    turn,
    place,
    toolCallId,
    messageId,
    name: 'bash',
    state: 'done',
    attempts: 1,
    startedAt: BEGIN + 1_000 * turn,
    endedAt: BEGIN + 1_000 * turn + 500,
  };
}

function question(
  id: string,
  key: string,
  turn: number,
  askedAt: number,
  totalTokens: number,
): Evidence['modelRequests'][number] {
  return { id, key, turn, attempt: 1, unknownOutcomes: 0, askedAt, answeredAt: askedAt + 50, totalTokens };
}

function workflow(workflowId: string, executionId: string): Evidence['workflows'][number] {
  return {
    workflowId,
    executionId,
    status: 'COMPLETED',
    historyEvents: 40,
    historyBytes: 9_000,
    taskFailures: [{ eventId: 7, at: BEGIN, cause: 'UNHANDLED_COMMAND', message: '' }],
    pendingTaskAttempt: 0,
    pendingActivities: [],
  };
}

/** For tests that need one thing of a list and know that it is there. */
export function only<T>(list: readonly T[], fits: (item: T) => boolean): T {
  const found = list.find(fits);
  if (found === undefined) throw new Error('the sound evidence has no such thing');
  return found;
}

export const runOf = (evidence: Evidence, runId: string): RunFact =>
  only(evidence.runs, (candidate) => candidate.runId === runId);

export const messageOf = (evidence: Evidence, id: string): Evidence['messages'][number] =>
  only(evidence.messages, ({ body }) => body.id === id);
