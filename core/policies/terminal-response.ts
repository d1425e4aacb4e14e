/**
 * Some models say nothing once their tools have run, which leaves the user without an answer. They are asked once more
 * in a run; a second silence fails it.
 */
import type { HumanMessage, Message } from '../../contracts';
import { hint } from './hint';

/** In the `additional_kwargs` of the reply that came after asking again. */
export const RECOVERED_MARK = 'terminal_response_recovery';

const TEXT =
  'Your last reply was empty. The tools have run and their results are above: answer the user now, in words, or call another tool.';

export function recoveryHint(): HumanMessage {
  return hint('terminal_response_recovery', TEXT);
}

/** Whether the model is to answer to results of tools. */
export function afterToolResult(messages: readonly Message[]): boolean {
  return messages.at(-1)?.type === 'tool';
}

/** Whether this turn of the user has had its second chance. */
export function wasRecovered(messages: readonly Message[]): boolean {
  const question = messages.findLastIndex(({ type }) => type === 'human');
  return messages
    .slice(question + 1)
    .some(({ type, additional_kwargs: extra }) => type === 'ai' && extra[RECOVERED_MARK] === true);
}
