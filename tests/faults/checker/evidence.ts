/**
 * What is known of a cluster after a fault: plain data, collected from the database, the journals, the Temporal server
 * and this machine. Rules read nothing else, so every rule can be tried on made-up evidence.
 *
 * Everything of one cluster since it was started belongs together: the rules look at all runs at once. Evidence is
 * collected when every accepted run is expected to have ended; what is still under way then counts as stuck.
 */
import type { Client } from '@temporalio/client';
import type { Pool } from 'pg';
import type { Message, StreamMode } from '../../../contracts';

/** Names a run towards the scripted model: the user's message holds one, and no two runs share it. */
export const RUN_KEY = /key-[A-Za-z0-9_]+/;

/** Every secret that a request brings holds these words; nothing else does. */
export const SECRET_TEXT = 'known only to the run of';

/** A run that a client was told of: its request was answered with success, or its stream had begun. */
export interface AcceptedRun {
  runId: string;
  threadId: string;
  /** A cancel of the run was asked for; whether it came in time is open. */
  cancelled?: 'interrupt' | 'rollback';
  /** The scenario keeps the run from what it needs, such as its model, for longer than is promised to be survived. */
  mayFail?: boolean;
}

export interface RunFact {
  runId: string;
  threadId: string;
  /** The `RUN_KEY` of its input; null where there is none. */
  key: string | null;
  status: string;
  admission: string;
  errorCode: string | null;
  llmCallCount: number;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  endedAt: number | null;
}

export interface EventFact {
  runId: string;
  number: number;
  /** Milliseconds since the epoch, as in the SSE id `{at}-{number}`. */
  at: number;
  kind: string;
}

/** One version of a message in a thread's log. */
export interface MessageFact {
  threadId: string;
  runId: string | null;
  since: number;
  /** Null for the version that the thread shows now. */
  until: number | null;
  position: number;
  body: Message;
}

export interface TurnFact {
  runId: string;
  /** 0 is the beginning of the run, 1 its first question to the model. */
  turn: number;
  messageId: string;
  /** When the transaction of the reply began; null for turn 0. */
  committedAt: number | null;
}

export interface ToolCallFact {
  runId: string;
  turn: number;
  place: number;
  toolCallId: string;
  name: string;
  messageId: string;
  state: string;
  attempts: number;
  startedAt: number | null;
  endedAt: number | null;
}

export interface StreamFact {
  runId: string;
  nextNumber: number;
  closed: boolean;
}

export interface ThreadFact {
  threadId: string;
  status: string;
  /** An operation that has the thread for itself. */
  hold: string | null;
  /** Nodes that wait at the newest checkpoint, such as `tools` at a breakpoint. */
  waitsFor: string[];
}

export interface JournalFact {
  threadId: string;
  runId: string;
  sequence: number;
  eventType: string;
  messageId: string | null;
}

/** One question to the scripted model. */
export interface ModelRequest {
  id: string;
  /** The `RUN_KEY` of the newest message of the user. */
  key: string;
  /** Assistant messages since that message, plus one: the same number as the product's turn. */
  turn: number;
  /** 1 for the first question of this key and turn, 2 for the next, … */
  attempt: number;
  /** How many tool messages of the conversation say that an outcome is unknown. */
  unknownOutcomes: number;
  askedAt: number;
  /** When the last byte of a whole reply was handed over; null where it was cut off, refused or is still being sent. */
  answeredAt: number | null;
  totalTokens: number | null;
}

/**
 * The journal of the scripted model: JSON lines, `asked` when a question is read and `answered` when the whole reply was
 * sent. Times are milliseconds since the epoch.
 */
export type ModelJournalLine =
  | ({ type: 'asked'; at: number } & Pick<ModelRequest, 'id' | 'key' | 'turn' | 'attempt' | 'unknownOutcomes'>)
  | { type: 'answered'; at: number; id: string; bytes: number; totalTokens: number };

/**
 * Names one side effect. Scripted commands write lines `<token> begun` and `<token> ended` (or `<token> done` for an
 * effect of a moment) to a file; the token is in the arguments of the call. One token belongs to one call of one turn of
 * one run, whichever attempt asks for it.
 */
export const EFFECT_TOKEN = /fx-[A-Za-z0-9_-]+/g;

export interface SideEffect {
  token: string;
  phase: 'begun' | 'ended' | 'done';
  file: string;
}

export interface SeenFrame {
  event: string;
  /** Null for `end`. */
  id: string | null;
  /** JSON text of the data. */
  data: string;
}

/** One connection of a subscriber, from its headers to its end. */
export interface SubscriberConnection {
  /** Which API served it, such as `api-1`. */
  api: string;
  /** What the request named; null reads from the beginning. */
  lastEventId: string | null;
  frames: SeenFrame[];
}

/** One reader of one run: its first connection and those with which it went on. */
export interface Subscription {
  runId: string;
  reader: string;
  modes: StreamMode[];
  connections: SubscriberConnection[];
}

export interface WorkflowTaskFailure {
  eventId: number;
  at: number;
  /** Such as `NON_DETERMINISTIC_ERROR`. */
  cause: string;
  message: string;
}

export interface PendingActivityFact {
  activityType: string;
  attempt: number;
  lastFailure: string | null;
}

/** One execution of a workflow; a run that continued as new has several. */
export interface WorkflowFact {
  workflowId: string;
  executionId: string;
  /** `RUNNING`, `COMPLETED`, `CONTINUED_AS_NEW`, `FAILED`, … */
  status: string;
  historyEvents: number;
  historyBytes: number;
  taskFailures: WorkflowTaskFailure[];
  /** Attempt of the workflow task that is pending; 0 where none is. */
  pendingTaskAttempt: number;
  pendingActivities: PendingActivityFact[];
}

export interface LivingProcess {
  pid: number;
  command: string;
}

export interface ConnectionFact {
  /** `application_name`. */
  application: string;
  /** `idle`, `active`, `idle in transaction`, … */
  state: string;
  /** Age of its transaction; null outside one. */
  transactionMs: number | null;
}

/** A time in which a process of the product stood still (SIGSTOP), or its lines were slow. */
export interface Disturbance {
  process: string;
  from: number;
  to: number;
}

export interface Limits {
  /** Connections that each application may have: processes of that kind times the size of their pools. */
  connections: Record<string, number>;
  historyEvents: number;
  historyBytes: number;
  /** Failures in a row after which a workflow task or an activity counts as stuck. */
  attempts: number;
  /** A question that was under way when another attempt committed its reply reaches the model at most so much later. */
  questionDelayMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  connections: {},
  historyEvents: 4_096,
  historyBytes: 4 * 1024 * 1024,
  attempts: 5,
  questionDelayMs: 500,
};

export interface Evidence {
  accepted: AcceptedRun[];
  runs: RunFact[];
  events: EventFact[];
  messages: MessageFact[];
  turns: TurnFact[];
  toolCalls: ToolCallFact[];
  streams: StreamFact[];
  /** Runs with a sealed secret. */
  secrets: string[];
  threads: ThreadFact[];
  journal: JournalFact[];
  modelRequests: ModelRequest[];
  effects: SideEffect[];
  subscriptions: Subscription[];
  workflows: WorkflowFact[];
  /** Processes that work for the cluster and are none of its living parts: what tools or workers left behind. */
  strayProcesses: LivingProcess[];
  connections: ConnectionFact[];
  disturbances: Disturbance[];
  limits: Limits;
}

/** Where the evidence of a cluster is to be found. */
export interface EvidenceSource {
  /** Not through a link; its `search_path` is the schema of the product. */
  pool: Pool;
  /** Not through a link. The whole namespace is the cluster's own. */
  temporal: Client;
  accepted: readonly AcceptedRun[];
  subscriptions: readonly Subscription[];
  /** File of `ModelJournalLine`s. */
  modelJournal: string;
  /** Files with lines of side effects; one that is not there has none. */
  effectFiles: readonly string[];
  /** The product's home folder, with which stray processes are recognised. */
  home: string;
  /** Processes of the cluster that are alive on purpose. */
  processes: readonly number[];
  disturbances: readonly Disturbance[];
  limits?: Partial<Limits>;
  /** How long the last workflow tasks and tool processes of runs that have ended may take; 30 s unless given. */
  settleMs?: number;
}

export interface Violation {
  /** Name of the rule. */
  rule: string;
  /** The run or thread that it is about, where it is about one. */
  subject: string | null;
  /** What is wrong, with the numbers that show it. */
  message: string;
}

/** One promise. Pure: the same evidence always gives the same violations. */
export interface Rule {
  name: string;
  /** What is promised, in a sentence. */
  promise: string;
  check(evidence: Evidence): Finding[];
}

export type Finding = Omit<Violation, 'rule'>;
