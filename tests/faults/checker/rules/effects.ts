import type { Message, ToolMessage } from '../../../../contracts';
import type { Evidence, Finding, MessageFact, Rule, ToolCallFact } from '../evidence';
import { EFFECT_TOKEN } from '../evidence';
import { groupBy } from '../grouping';

export const effectsOnce: Rule = {
  name: 'effect-at-most-once',
  promise: 'No side effect of a tool happens twice.',
  check({ effects }) {
    return [...groupBy(effects, ({ token, phase }) => `${token} ${phase}`)]
      .filter(([, same]) => same.length > 1)
      .map(([key, same]) => ({ subject: null, message: `"${key}" happened ${same.length} times` }));
  },
};

export const effectsInLedger: Rule = {
  name: 'effect-without-ledger',
  promise: 'A side effect happens only after the ledger says that its call was started.',
  check(evidence) {
    const calls = callsByToken(evidence);
    const tokens = new Set(evidence.effects.map(({ token }) => token));
    return [...tokens].flatMap((token): Finding[] => {
      const call = calls.get(token)?.call;
      if (call === undefined) return [{ subject: null, message: `"${token}" belongs to no call of a stored reply` }];
      if (call.startedAt !== null && call.attempts > 0) return [];
      return [{ subject: call.runId, message: `"${token}" happened, its call is ${call.state} and was never started` }];
    });
  },
};

export const effectsOfResults: Rule = {
  name: 'result-without-effect',
  promise: 'A tool call that reports success has had its effect in full.',
  check(evidence) {
    const happened = new Set(evidence.effects.filter(({ phase }) => phase !== 'begun').map(({ token }) => token));
    return [...callsByToken(evidence)].flatMap(([token, { call, result }]): Finding[] => {
      if (result?.status !== 'success' || happened.has(token)) return [];
      return [{ subject: call.runId, message: `${nameOf(call)} reports success, "${token}" did not happen in full` }];
    });
  },
};

const UNKNOWN = 'outcome is unknown';
const EXPLAINED = /outcome is unknown|cancelled by the user|the run ended before|timed out/i;

export const unknownOutcomes: Rule = {
  name: 'unknown-outcome-untold',
  promise:
    'Where a tool was cut off, its result says that the outcome is unknown or why there is none, to the model too.',
  check(evidence) {
    const ends = new Set(evidence.effects.filter(({ phase }) => phase !== 'begun').map(({ token }) => token));
    const cutOff = new Set(evidence.effects.map(({ token }) => token).filter((token) => !ends.has(token)));
    const untold = [...callsByToken(evidence)].flatMap(([token, { call, result }]): Finding[] => {
      if (result === null || !cutOff.has(token) || result.status === 'success') return [];
      if (EXPLAINED.test(textOf(result))) return [];
      return [
        { subject: call.runId, message: `${nameOf(call)} was cut off and says "${textOf(result).slice(0, 120)}"` },
      ];
    });
    return [...untold, ...unheard(evidence)];
  },
};

/** Each later question of the run holds every result that says so. */
function unheard({ runs, messages, toolCalls, turns, modelRequests }: Evidence): Finding[] {
  const results = resultsByCall(messages);
  const unknown = groupBy(
    toolCalls.filter((call) => {
      const result = results.get(resultKey(call.messageId, call.toolCallId));
      return call.state === 'done' && result !== undefined && textOf(result).includes(UNKNOWN);
    }),
    ({ runId }) => runId,
  );
  const last = new Map<string, number>();
  for (const { runId, turn } of turns) last.set(runId, Math.max(turn, last.get(runId) ?? 0));
  return runs.flatMap(({ runId, key }) =>
    modelRequests
      .filter((request) => request.key === key && request.turn <= (last.get(runId) ?? 0))
      .flatMap((request): Finding[] => {
        const due = (unknown.get(runId) ?? []).filter(({ turn }) => turn < request.turn).length;
        if (request.unknownOutcomes >= due) return [];
        const message = `the question of turn ${request.turn} tells of ${request.unknownOutcomes} unknown outcomes of ${due}`;
        return [{ subject: runId, message }];
      }),
  );
}

interface TokenCall {
  call: ToolCallFact;
  result: ToolMessage | null;
}

/** The calls whose arguments name an effect, with their results, also of what was taken back later. */
function callsByToken({ messages, toolCalls }: Evidence): Map<string, TokenCall> {
  const results = resultsByCall(messages);
  const rows = new Map(toolCalls.map((call) => [resultKey(call.messageId, call.toolCallId), call]));
  const calls = new Map<string, TokenCall>();
  for (const { body } of messages) {
    if (body.type !== 'ai') continue;
    for (const { id, args } of body.tool_calls) {
      const key = resultKey(body.id, id);
      const call = rows.get(key);
      if (call === undefined) continue;
      for (const [token] of JSON.stringify(args).matchAll(EFFECT_TOKEN)) {
        calls.set(token, { call, result: results.get(key) ?? null });
      }
    }
  }
  return calls;
}

/** Results by reply and call: a result follows its reply, before the next one. */
function resultsByCall(messages: readonly MessageFact[]): Map<string, ToolMessage> {
  const results = new Map<string, ToolMessage>();
  for (const ofThread of groupBy(messages, ({ threadId }) => threadId).values()) {
    let reply: Message | null = null;
    for (const { body } of [...ofThread].sort((left, right) => left.position - right.position)) {
      if (body.type === 'ai') reply = body;
      if (body.type === 'tool' && reply !== null) results.set(resultKey(reply.id, body.tool_call_id), body);
    }
  }
  return results;
}

function resultKey(messageId: string, toolCallId: string): string {
  return `${messageId} ${toolCallId}`;
}

function nameOf({ name, turn, toolCallId }: ToolCallFact): string {
  return `${name} of turn ${turn} (${toolCallId})`;
}

function textOf({ content }: ToolMessage): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}
