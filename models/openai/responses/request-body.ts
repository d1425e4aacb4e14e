/** Parts of a request that chat completions and the Responses API have under different names. */

type Body = Readonly<Record<string, unknown>>;

/** Thoughts come sealed only from models that think; others refuse the question. */
export const SEALED_THOUGHTS = { include: ['reasoning.encrypted_content'] };

export function toResponsesBody(body: Body): Record<string, unknown> {
  const { max_tokens, max_completion_tokens, reasoning_effort: effort, verbosity, ...rest } = body;
  const limit = max_completion_tokens ?? max_tokens;
  return {
    ...(limit === undefined ? {} : { max_output_tokens: limit }),
    ...rest,
    ...(effort === undefined ? {} : { reasoning: { ...record(rest['reasoning']), effort } }),
    ...(verbosity === undefined ? {} : { text: { ...record(rest['text']), verbosity } }),
  };
}

function record(value: unknown): Body {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
