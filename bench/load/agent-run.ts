/** One run of an agent over an HTTP API of LangGraph's shape, timed from its creation to the end of its stream. */
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { Agent, IncomingMessage } from 'node:http';
import { createFrameSplitter } from '../readers';
import type { StreamFrame } from '../readers';
import type { Work } from './work';

/** An API that serves runs: the product's, or a peer's. */
export interface ApiTarget {
  url: string;
  /** What stands before `/threads` in its paths. */
  prefix: string;
  agent: Agent;
}

export interface AgentRun {
  threadId: string;
  runId: string;
  /** Milliseconds from sending the request: the first event, the first state, the last state, the stream's end. */
  firstEventMs: number;
  firstStateMs: number;
  lastStateMs: number;
  endMs: number;
}

export interface AgentRunOptions {
  work: Work;
  signal: AbortSignal;
}

const RUN_LIMIT_MS = 120_000;

/** Creates a run on a new thread, reads its stream to the end, and throws where it did not do its turns. */
export async function runAgent(target: ApiTarget, { work, signal }: AgentRunOptions): Promise<AgentRun> {
  const threadId = randomUUID();
  const begun = performance.now();
  const elapsed = () => performance.now() - begun;
  const response = await post(target, `${target.prefix}/threads/${threadId}/runs/stream`, runBody(work), signal);
  const seen = createObserver(elapsed);
  const splitter = createFrameSplitter();
  response.setEncoding('utf8');
  for await (const text of response) splitter.push(String(text)).forEach(seen.take);
  const endMs = elapsed();
  if (response.statusCode !== 200) throw new Error(`a run was refused with status ${response.statusCode}`);
  expectTurns(seen.lastState, work.turns);
  return { threadId, runId: seen.runId, ...seen.times, endMs };
}

function runBody({ turns, question }: Work): unknown {
  return {
    assistant_id: 'lead_agent',
    if_not_exists: 'create',
    stream_mode: ['values'],
    config: { recursion_limit: turns * 4 },
    input: { messages: [{ role: 'user', content: question }] },
  };
}

function post(target: ApiTarget, path: string, body: unknown, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      target.url + path,
      {
        method: 'POST',
        agent: target.agent,
        headers: { 'content-type': 'application/json' },
        signal: AbortSignal.any([signal, AbortSignal.timeout(RUN_LIMIT_MS)]),
      },
      resolve,
    );
    outgoing.once('error', reject);
    outgoing.end(JSON.stringify(body));
  });
}

function createObserver(elapsed: () => number) {
  const times = { firstEventMs: 0, firstStateMs: 0, lastStateMs: 0 };
  const seen = { times, runId: '', lastState: '', take };
  function take({ event, data }: StreamFrame): void {
    const now = elapsed();
    if (times.firstEventMs === 0) times.firstEventMs = now;
    if (event === 'error') throw new Error(`a run failed: ${data}`);
    if (event === 'metadata') seen.runId = String(asObject(JSON.parse(data))['run_id']);
    if (event !== 'values') return;
    if (times.firstStateMs === 0) times.firstStateMs = now;
    times.lastStateMs = now;
    seen.lastState = data;
  }
  return seen;
}

/** The state must hold one reply a turn, one tool result for every reply but the last, and no call that waits. */
function expectTurns(state: string, turns: number): void {
  const { messages } = asObject(JSON.parse(state === '' ? '{}' : state));
  const types = (Array.isArray(messages) ? messages : []).map((message) => String(asObject(message)['type']));
  const count = (type: string) => types.filter((candidate) => candidate === type).length;
  if (count('ai') !== turns || count('tool') !== turns - 1 || types.at(-1) !== 'ai') {
    throw new Error(`a run ended with ${count('ai')} replies and ${count('tool')} tool results of ${turns} turns`);
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
