/** The conversation in the order that Gemini insists on. */

interface Part {
  text?: unknown;
  functionCall?: { name: string };
  functionResponse?: { name: string };
}

export interface Content {
  role?: string;
  parts?: readonly Part[];
}

const LONGEST_NAME = 64;

/**
 * Turns of one side are joined: results of calls made at once must stand in one turn, as many as there were calls. Parts
 * without text and turns without parts are left out, and names that no function can have are spelled as one can.
 */
export function inGeminiOrder(contents: readonly Content[]): Content[] {
  const ordered: Array<Content & { parts: Part[] }> = [];
  for (const { role = 'user', parts = [] } of contents) {
    const said = parts.filter((part) => !isBlank(part)).map(withPossibleNames);
    const last = ordered.at(-1);
    if (said.length === 0) continue;
    if (last?.role === role) last.parts.push(...said);
    else ordered.push({ role, parts: said });
  }
  return ordered;
}

function isBlank(part: Part): boolean {
  return part.text === '' && Object.keys(part).length === 1;
}

function withPossibleNames(part: Part): Part {
  const { functionCall, functionResponse, ...rest } = part;
  return {
    ...rest,
    ...(functionCall === undefined ? {} : { functionCall: { ...functionCall, name: nameOf(functionCall) } }),
    ...(functionResponse === undefined
      ? {}
      : { functionResponse: { ...functionResponse, name: nameOf(functionResponse) } }),
  };
}

/** Models make up names of tools at times, and the call and its refusal go back to them. */
function nameOf({ name }: { name: string }): string {
  const spelled = name.replace(/[^a-zA-Z0-9_.:-]/g, '_').slice(0, LONGEST_NAME);
  return /^[a-zA-Z_]/.test(spelled) ? spelled : `_${spelled}`.slice(0, LONGEST_NAME);
}
