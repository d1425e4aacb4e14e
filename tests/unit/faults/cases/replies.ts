import type { BreakingCase } from '../breaking-case';
import { FIRST, messageOf, only, runOf } from '../sound-evidence';

export const replyCases: BreakingCase[] = [
  {
    rule: 'stored-reply-asked-again',
    title: 'a turn was asked for after its reply was committed',
    break: ({ modelRequests, turns }) => {
      const committed = only(turns, ({ messageId }) => messageId === 'a1').committedAt ?? 0;
      const asked = only(modelRequests, ({ id }) => id === 'q1');
      modelRequests.push({ ...asked, id: 'again', attempt: 2, askedAt: committed + 501 });
    },
    says: /turn 1 was asked for \(attempt 2\) 501 ms after its reply was committed/,
  },
  {
    rule: 'stored-reply-asked-again',
    title: 'a process that had stood still asked long after it went on',
    break: ({ modelRequests, disturbances, limits }) => {
      const awake = only(disturbances, () => true).to;
      const asked = only(modelRequests, ({ id }) => id === 'q3');
      modelRequests.push({ ...asked, id: 'again', attempt: 3, askedAt: awake + limits.questionDelayMs + 1 });
    },
    says: /turn 2 was asked for \(attempt 3\)/,
  },
  {
    rule: 'question-out-of-turn',
    title:
      'a committed reply was asked for again, with itself in the conversation, while its tools were still to be run',
    break: ({ modelRequests, toolCalls }) => {
      const ended = only(toolCalls, ({ turn }) => turn === 1).endedAt ?? 0;
      const asked = only(modelRequests, ({ id }) => id === 'q2');
      modelRequests.push({ ...asked, id: 'again', attempt: 3, askedAt: ended - 100 });
    },
    says: /turn 2 was asked for \(attempt 3\) 100 ms before the turn before it was over/,
  },
  {
    rule: 'question-out-of-turn',
    title: 'the last reply was asked for again, with itself in the conversation',
    break: ({ modelRequests }) => {
      const asked = only(modelRequests, ({ id }) => id === 'q4');
      modelRequests.push({ ...asked, id: 'again', turn: 4, askedAt: asked.askedAt + 8_000 });
    },
    says: /turn 4 was asked for \(attempt 1\), the last one was 3/,
  },
  {
    rule: 'reply-without-answer',
    title: 'half a reply was committed',
    break: ({ modelRequests }) => void (only(modelRequests, ({ id }) => id === 'q1').answeredAt = null),
    says: /turn 1 has a reply, but the model finished none of 1 attempts/,
  },
  {
    rule: 'reply-without-answer',
    title: 'a reply was committed that the model was never asked for',
    break: (evidence) => {
      evidence.modelRequests = evidence.modelRequests.filter(({ id }) => id !== 'q1');
    },
    says: /none of 0 attempts/,
  },
  {
    rule: 'token-totals',
    title: 'a reply was counted twice',
    break: (evidence) => void (runOf(evidence, FIRST).totalTokens += 11),
    says: /"total":74\}, stored .*"total":63\}/,
  },
  {
    rule: 'token-totals',
    title: 'a reply was stored with other tokens than the model said',
    break: ({ modelRequests }) => void (only(modelRequests, ({ id }) => id === 'q4').totalTokens = 40),
    says: /counted 63 tokens, the model gave 72/,
  },
  {
    rule: 'token-totals',
    title: 'a call was not counted',
    break: (evidence) => void (runOf(evidence, FIRST).llmCallCount -= 1),
    says: /counted \{"calls":2,.* stored \{"calls":3,/,
  },
  {
    rule: 'token-totals',
    title: 'the notice of a failed model counts as a reply',
    break: (evidence) => {
      messageOf(evidence, 'a3').body.additional_kwargs = { deerflow_error_fallback: true };
    },
    says: /stored \{"calls":2,/,
  },
];
