import type { Evidence, Finding, ModelRequest, Rule, RunFact, TurnFact } from '../evidence';
import { groupBy } from '../grouping';
import { lastAwakening } from '../late-questions';

export const storedReplies: Rule = {
  name: 'stored-reply-asked-again',
  promise: 'A reply that is committed is never asked for again.',
  check(evidence) {
    return committedTurns(evidence).flatMap(({ run, turn, committedAt, requests }) =>
      requests
        .filter((request) => request.askedAt > latestQuestion(committedAt, evidence))
        .map((request): Finding => {
          const late = request.askedAt - committedAt;
          const message = `turn ${turn.turn} was asked for (attempt ${request.attempt}) ${late} ms after its reply was committed`;
          return { subject: run.runId, message };
        }),
    );
  },
};

/** A question may be on its way while another attempt commits; how long it can be on its way is known. */
function latestQuestion(committedAt: number, evidence: Evidence): number {
  return lastAwakening(committedAt, evidence) ?? committedAt + evidence.limits.questionDelayMs;
}

export const repliesWereGiven: Rule = {
  name: 'reply-without-answer',
  promise: 'A reply is only committed when the model has given it in full.',
  check(evidence) {
    return committedTurns(evidence)
      .filter(({ isFallback, requests }) => !isFallback && !requests.some(({ answeredAt }) => answeredAt !== null))
      .map(({ run, turn, requests }) => ({
        subject: run.runId,
        message: `turn ${turn.turn} has a reply, but the model finished none of ${requests.length} attempts`,
      }));
  },
};

interface CommittedTurn {
  run: RunFact;
  turn: TurnFact;
  committedAt: number;
  /** The model failed and a notice was committed instead. */
  isFallback: boolean;
  requests: ModelRequest[];
}

function committedTurns({ runs, turns, messages, modelRequests }: Evidence): CommittedTurn[] {
  const byId = new Map(runs.map((run) => [run.runId, run]));
  const requests = groupBy(modelRequests, ({ key, turn }) => `${key} ${turn}`);
  const notices = new Set(
    messages
      .filter(({ body }) => body.additional_kwargs['deerflow_error_fallback'] !== undefined)
      .map(({ body }) => body.id),
  );
  return turns.flatMap((turn) => {
    const run = byId.get(turn.runId);
    // Without a key, the model's journal does not tell which questions are the run's.
    if (run === undefined || run.key === null || turn.committedAt === null) return [];
    return [
      {
        run,
        turn,
        committedAt: turn.committedAt,
        isFallback: notices.has(turn.messageId),
        requests: requests.get(`${run.key} ${turn.turn}`) ?? [],
      },
    ];
  });
}

export const tokenTotals: Rule = {
  name: 'token-totals',
  promise: "A run's counts of calls and tokens equal the sum of its stored replies, and of what the model gave.",
  check(evidence) {
    const { runs, messages } = evidence;
    const given = givenTokens(evidence);
    const replies = groupBy(
      messages.filter(({ runId, body }) => runId !== null && body.type === 'ai'),
      ({ runId }) => runId ?? '',
    );
    return runs.flatMap((run) => {
      const sum = { calls: 0, input: 0, output: 0, total: 0 };
      // A message may have several versions, one for each time that the thread was taken back to it.
      const bodies = new Map((replies.get(run.runId) ?? []).map(({ body }) => [body.id, body]));
      for (const body of bodies.values()) {
        if (body.type !== 'ai' || body.additional_kwargs['deerflow_error_fallback'] !== undefined) continue;
        sum.calls += 1;
        sum.input += body.usage_metadata?.input_tokens ?? 0;
        sum.output += body.usage_metadata?.output_tokens ?? 0;
        sum.total += body.usage_metadata?.total_tokens ?? 0;
      }
      const { llmCallCount: calls, inputTokens: input, outputTokens: output, totalTokens: total } = run;
      const counted = { calls, input, output, total };
      const found = (message: string): Finding[] => [{ subject: run.runId, message }];
      if (JSON.stringify(counted) !== JSON.stringify(sum)) {
        return found(`counted ${JSON.stringify(counted)}, stored ${JSON.stringify(sum)}`);
      }
      const byModel = given.get(run.runId) ?? total;
      return byModel === total ? [] : found(`counted ${total} tokens, the model gave ${byModel}`);
    });
  },
};

/** By run: the tokens of the replies that were committed, as the model's journal has them. */
function givenTokens(evidence: Evidence): Map<string, number> {
  const given = new Map<string, number>();
  for (const [runId, turns] of groupBy(committedTurns(evidence), ({ run }) => run.runId)) {
    const tokens = turns
      .filter(({ isFallback }) => !isFallback)
      .map(({ requests }) => requests.find(({ answeredAt }) => answeredAt !== null)?.totalTokens ?? null);
    // A reply that the model never gave, or that has no moment, is the matter of other rules.
    const isWhole = turns.length === evidence.turns.filter((turn) => turn.runId === runId && turn.turn > 0).length;
    if (isWhole && !tokens.includes(null))
      given.set(
        runId,
        tokens.reduce<number>((sum, count) => sum + (count ?? 0), 0),
      );
  }
  return given;
}
