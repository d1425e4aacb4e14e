import type { HumanMessage } from '../../contracts';

/** A word to the model that is part of one request only: it is not stored, and no user sees it. */
export function hint(name: string, text: string): HumanMessage {
  return {
    type: 'human',
    id: `hint:${name}`,
    name,
    content: text,
    additional_kwargs: { hide_from_ui: true },
    response_metadata: {},
  };
}
