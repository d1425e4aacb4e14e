import type { Message } from '../../contracts';
import { fault } from '../http/validation';

/** No knowledge search is active, so a message that narrows one asks for what it would not get. */
export function checkKnowledgeScope(messages: readonly Message[]): void {
  messages.forEach((message, place) => {
    const scope = message.additional_kwargs['knowledge_scope'];
    if (scope === undefined || scope === null) return;
    const loc = ['body', 'input', 'messages', place, 'additional_kwargs', 'knowledge_scope'];
    throw fault('value_error', loc, 'Value error, knowledge_search is not enabled', scope, { error: {} });
  });
}
