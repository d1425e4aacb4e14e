/**
 * Some models say nothing once their tools have run, which leaves the user without an answer. They are asked once more
 * in a run; a second silence fails it.
 */
import type { HumanMessage, Message } from '../../contracts';

/** In the `additional_kwargs` of the reply that came after asking again, so that any later attempt knows. */
export const RECOVERED_MARK = 'terminal_response_recovery';

const TEXT =
  'Your last reply was empty. The tools have run and their results are above: answer the user now, in words, or call another tool.';

/** Only in the request: the conversation itself does not hold it. */
export function recoveryNote(): HumanMessage {
  return {
    type: 'human',
    id: 'terminal-response-recovery',
    name: 'terminal_response_recovery',
    content: TEXT,
    additional_kwargs: { hide_from_ui: true },
    response_metadata: {},
  };
}

/** Whether a model that says nothing now is asked once more: it is to answer to tools, and was not asked again before. */
export function mayAskAgain(messages: readonly Message[]): boolean {
  if (messages.at(-1)?.type !== 'tool') return false;
  const question = messages.findLastIndex(({ type }) => type === 'human');
  return !messages
    .slice(question + 1)
    .some(({ type, additional_kwargs: extra }) => type === 'ai' && extra[RECOVERED_MARK] === true);
}
