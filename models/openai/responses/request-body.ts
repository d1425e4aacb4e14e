/** Parts of a request that chat completions and the Responses API have under different names. */

type Body = Readonly<Record<string, unknown>>;

/** Thoughts come sealed only from models that think; others refuse the question. */
export const SEALED_THOUGHTS = { include: ['reasoning.encrypted_content'] };

/** `reasoning` is what the entry says under that name. */
export function toResponsesBody(body: Body, reasoning: unknown): Record<string, unknown> {
  const { max_tokens, max_completion_tokens, reasoning_effort: effort, verbosity, ...rest } = body;
  const limit = max_completion_tokens ?? max_tokens;
  const thinking = {
    ...reasoningOf(reasoning),
    ...record(rest['reasoning']),
    ...(effort === undefined ? {} : { effort }),
  };
  return {
    ...(limit === undefined ? {} : { max_output_tokens: limit }),
    ...rest,
    ...(Object.keys(thinking).length === 0 ? {} : { reasoning: thinking }),
    ...(verbosity === undefined ? {} : { text: { ...record(rest['text']), verbosity } }),
  };
}

/** A plain word of older files is the effort; a flag says nothing here. */
export function reasoningOf(reasoning: unknown): Body {
  return typeof reasoning === 'string' ? { effort: reasoning } : record(reasoning);
}

function record(value: unknown): Body {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
