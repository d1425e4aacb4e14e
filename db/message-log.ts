import { randomUUID } from 'node:crypto';
import type { CancelAction, JsonObject, JsonValue, Message, RunEventInput } from '../contracts';
import { AppError } from '../contracts';
import type { Database, Queryable } from './database';
import { translateErrors } from './errors';

export interface CheckpointInput {
  step: number;
  source: 'input' | 'loop' | 'update' | 'fork';
  node?: string;
  next?: string[];
  interrupts?: JsonValue[];
  metadata?: JsonObject;
  error?: string;
  parentId?: string;
}

export interface JournalInput {
  eventType: string;
  category: string;
  content?: JsonValue;
  messageId?: string;
  metadata?: JsonObject;
}

export interface PlannedToolCall {
  toolCallId: string;
  turn: number;
  place: number;
  name: string;
  messageId: string;
}

/** One model call of a run that was not its lead agent's. */
export interface SideUsage {
  /** `middleware:<name>` or `subagent:<name>`. */
  caller: string;
  model: string;
  calls: number;
  input: number;
  output: number;
  total: number;
}

/** One commit to a thread; see `commit_step` in the migrations for the meaning of each part. */
export interface StepCommit {
  threadId: string;
  runId?: string;
  restore?: number;
  messages?: Message[];
  removeMessages?: string[];
  channels?: JsonObject;
  artifacts?: string[];
  journal?: JournalInput[];
  toolCalls?: PlannedToolCall[];
  toolResult?: { turn: number; toolCallId: string; presented?: string[]; message: Message; journal: JournalInput };
  turn?: { turn: number; messageId: string; outcome: JsonValue };
  usage?: { calls: number; input: number; output: number; total: number };
  sideUsage?: SideUsage;
  checkpoint?: CheckpointInput;
  events?: RunEventInput[];
  phase?: { checkpoint: CheckpointInput; events: RunEventInput[] };
  touch?: boolean;
}

export interface CommitResult {
  seq: number;
  /** The tool result completed its turn. */
  phaseComplete: boolean;
  /** Where the first message of the commit stands in the conversation. */
  position: number | null;
  /** The wish to cancel that the run's row held then. */
  cancelAction: CancelAction | null;
}

export interface CheckpointRow {
  checkpointId: string;
  parentId: string | null;
  watermark: number;
  runId: string | null;
  step: number;
  source: string;
  node: string | null;
  next: string[];
  interrupts: JsonValue[];
  error: string | null;
  metadata: JsonObject;
  createdAt: string;
}

/** A thread's state at one watermark. Message bodies stay JSON text: most readers only send them on. */
export interface ThreadState {
  messages: string[];
  channels: JsonObject;
}

export interface LogMessage {
  /** JSON text. */
  body: string;
  runId: string | null;
  since: number;
  /** Whole seconds that its run took, once it has ended. */
  runSeconds: number | null;
}

export interface MessageLog {
  commit(step: StepCommit, client?: Queryable): Promise<CommitResult>;
  /** The newest state, or the one at a watermark. */
  state(threadId: string, watermark?: number): Promise<ThreadState>;
  channels(threadId: string, watermark?: number): Promise<JsonObject>;
  checkpoint(threadId: string, checkpointId: string): Promise<CheckpointRow | null>;
  head(threadId: string): Promise<CheckpointRow | null>;
  /** The newest checkpoint that is not newer than the watermark. */
  checkpointAt(threadId: string, watermark: number): Promise<CheckpointRow | null>;
  /** Whether any message came, changed or went after the watermark. */
  messagesChangedAfter(threadId: string, watermark: number): Promise<boolean>;
  /** The oldest checkpoint from the watermark on in which nothing waits. */
  restAfter(threadId: string, watermark: number): Promise<CheckpointRow | null>;
  /** The messages of a state with what is known of the runs that wrote them. */
  messages(threadId: string, watermark?: number): Promise<LogMessage[]>;
  /** Newest first; `before` is a checkpoint id and is itself included. */
  history(threadId: string, options: { limit: number; before?: string }): Promise<CheckpointRow[]>;
}

export function createMessageLog(database: Database): MessageLog {
  return {
    commit: (step, client) => commitStep(client ?? database.pool, step),
    state: (threadId, watermark) => readState(database.pool, threadId, watermark),
    channels: (threadId, watermark) => readChannels(database.pool, threadId, watermark),
    checkpoint: async (threadId, checkpointId) => {
      if (!isUuid(checkpointId)) return null;
      const rows = await readCheckpoints(database.pool, 'checkpoint_id = $2', [threadId, checkpointId], 1);
      return rows[0] ?? null;
    },
    head: async (threadId) => (await readCheckpoints(database.pool, 'true', [threadId], 1))[0] ?? null,
    checkpointAt: async (threadId, watermark) =>
      (await readCheckpoints(database.pool, 'watermark <= $2', [threadId, watermark], 1))[0] ?? null,
    messagesChangedAfter: async (threadId, watermark) => {
      const { rowCount } = await database.pool.query(
        'select 1 from thread_messages where thread_id = $1 and (since > $2 or until > $2) limit 1',
        [threadId, watermark],
      );
      return rowCount !== 0;
    },
    restAfter: async (threadId, watermark) => {
      const condition = `watermark = (select min(watermark) from checkpoints
        where thread_id = $1 and watermark >= $2 and next = '{}')`;
      return (await readCheckpoints(database.pool, condition, [threadId, watermark], 1))[0] ?? null;
    },
    messages: (threadId, watermark) => readMessages(database.pool, threadId, watermark),
    history: (threadId, options) => readHistory(database.pool, threadId, options),
  };
}

const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID_PATTERN.test(text);
}

interface CommitRow {
  seq: number;
  phase_complete: boolean;
  position: number | null;
  cancel_action: CancelAction | null;
}

/** Writes one step; inside a transaction where a connection is given. */
export async function commitStep(client: Queryable, step: StepCommit): Promise<CommitResult> {
  return translateErrors(async () => {
    const { rows } = await client.query<{ result: CommitRow }>({
      ...(step.sideUsage === undefined
        ? { name: 'commit-step', text: 'select commit_step($1::jsonb) as result' }
        : { name: 'commit-side-step', text: 'select commit_side_step($1::jsonb) as result' }),
      values: [JSON.stringify(toParameters(step))],
    });
    const result = rows[0]?.result;
    if (result === undefined) throw new AppError('internal', 'The commit gave no result.');
    return {
      seq: result.seq,
      phaseComplete: result.phase_complete,
      position: result.position,
      cancelAction: result.cancel_action,
    };
  });
}

function toParameters(step: StepCommit): Record<string, unknown> {
  return {
    thread_id: step.threadId,
    run_id: step.runId,
    restore: step.restore,
    messages: step.messages?.map((message) => ({ id: message.id, body: message })),
    remove_messages: step.removeMessages,
    channels: step.channels,
    artifacts: step.artifacts,
    journal: step.journal?.map(journalParameters),
    tool_calls: step.toolCalls?.map((call) => ({
      tool_call_id: call.toolCallId,
      turn: call.turn,
      place: call.place,
      name: call.name,
      message_id: call.messageId,
    })),
    tool_result: step.toolResult && {
      turn: step.toolResult.turn,
      tool_call_id: step.toolResult.toolCallId,
      presented: step.toolResult.presented,
      message: step.toolResult.message,
      journal: journalParameters(step.toolResult.journal),
    },
    turn: step.turn && { turn: step.turn.turn, message_id: step.turn.messageId, outcome: step.turn.outcome },
    usage: step.usage,
    side_usage: step.sideUsage,
    checkpoint: step.checkpoint && checkpointParameters(step.checkpoint),
    events: step.events?.map(eventParameters),
    phase: step.phase && {
      checkpoint: checkpointParameters(step.phase.checkpoint),
      events: step.phase.events.map(eventParameters),
    },
    touch: step.touch,
  };
}

function journalParameters(row: JournalInput): Record<string, unknown> {
  return {
    event_type: row.eventType,
    category: row.category,
    content: row.content,
    message_id: row.messageId,
    metadata: row.metadata ?? {},
  };
}

function checkpointParameters(checkpoint: CheckpointInput): Record<string, unknown> {
  return {
    id: randomUUID(),
    step: checkpoint.step,
    source: checkpoint.source,
    node: checkpoint.node,
    next: checkpoint.next ?? [],
    interrupts: checkpoint.interrupts ?? [],
    metadata: checkpoint.metadata ?? {},
    error: checkpoint.error,
    parent_id: checkpoint.parentId,
  };
}

export function eventParameters(event: RunEventInput): Record<string, unknown> {
  return { kind: event.kind, payload: event.payload, message_id: event.messageId };
}

/** Rows visible at a watermark; without one, the open rows, which have an index of their own. */
function visibleAt(watermark: number | undefined): string {
  return watermark === undefined ? 'until is null' : 'since <= $2 and (until is null or until > $2)';
}

async function readState(client: Queryable, threadId: string, watermark?: number): Promise<ThreadState> {
  const parameters = watermark === undefined ? [threadId] : [threadId, watermark];
  const { rows } = await client.query<{ body: string }>(
    `select body::text as body from thread_messages where thread_id = $1 and ${visibleAt(watermark)}
     order by position, since`,
    parameters,
  );
  return { messages: rows.map((row) => row.body), channels: await readChannels(client, threadId, watermark) };
}

async function readMessages(client: Queryable, threadId: string, watermark?: number): Promise<LogMessage[]> {
  const parameters = watermark === undefined ? [threadId] : [threadId, watermark];
  const { rows } = await client.query<LogMessage>(
    `select m.body::text as body, m.run_id as "runId", m.since,
            floor(extract(epoch from r.ended_at - coalesce(r.started_at, r.created_at)))::int as "runSeconds"
     from (select * from thread_messages where thread_id = $1 and ${visibleAt(watermark)}) m
     left join runs r on r.run_id = m.run_id order by m.position, m.since`,
    parameters,
  );
  return rows;
}

async function readChannels(client: Queryable, threadId: string, watermark?: number): Promise<JsonObject> {
  const parameters = watermark === undefined ? [threadId] : [threadId, watermark];
  const { rows } = await client.query<{ channel: string; value: JsonValue }>(
    `select channel, value from thread_channels where thread_id = $1 and ${visibleAt(watermark)} order by channel`,
    parameters,
  );
  return Object.fromEntries(rows.map((row) => [row.channel, row.value]));
}

async function readHistory(
  client: Queryable,
  threadId: string,
  options: { limit: number; before?: string },
): Promise<CheckpointRow[]> {
  if (options.before === undefined) return readCheckpoints(client, 'true', [threadId], options.limit);
  if (!isUuid(options.before)) return [];
  const condition =
    'watermark <= (select watermark from checkpoints where thread_id = $1 and checkpoint_id = $2::uuid)';
  return readCheckpoints(client, condition, [threadId, options.before], options.limit);
}

async function readCheckpoints(
  client: Queryable,
  condition: string,
  parameters: unknown[],
  limit: number,
): Promise<CheckpointRow[]> {
  const { rows } = await client.query<CheckpointRow>(
    `select checkpoint_id as "checkpointId", parent_id as "parentId", watermark, run_id as "runId", step, source, node,
            next, interrupts, error, metadata, created_at as "createdAt"
     from checkpoints where thread_id = $1 and ${condition} order by watermark desc limit ${limit}`,
    parameters,
  );
  return rows;
}
