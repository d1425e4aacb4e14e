/** What Anthropic documents of a request, as far as an agent's requests touch it. */

type Json = Record<string, unknown>;

const MOST_MARKS = 4;
const LEAST_THINKING = 1024;
const ID = /^[a-zA-Z0-9_-]+$/;
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const TOOL = ['name', 'description', 'input_schema', 'cache_control', 'type', 'strict'];
const NOT_MARKED = ['thinking', 'redacted_thinking'];

/** What the provider would refuse; empty for a good request. */
export function anthropicFaults(body: Json): string[] {
  const messages = listOf(body['messages']);
  return [
    ...(Number.isInteger(body['max_tokens']) ? [] : ['max_tokens: Field required']),
    ...(messages[0]?.['role'] === 'user' ? [] : ['messages: first message must use the "user" role']),
    ...listOf(body['system']).flatMap((block, index) => blockFaults(block, `system.${index}`)),
    ...messages.flatMap((message, index) => messageFaults(message, `messages.${index}`)),
    ...pairFaults(messages),
    ...listOf(body['tools']).flatMap(toolFaults),
    ...thinkingFaults(body, messages),
    ...(marks(body) <= MOST_MARKS ? [] : [`A maximum of ${MOST_MARKS} blocks with cache_control may be provided.`]),
  ];
}

function messageFaults({ role, content }: Json, place: string): string[] {
  if (role !== 'user' && role !== 'assistant') return [`${place}.role: Unexpected role`];
  if (typeof content === 'string') return content.trim() === '' ? [`${place}: content must be non-empty`] : [];
  const blocks = listOf(content);
  if (blocks.length === 0) return [`${place}: content must be non-empty`];
  return blocks.flatMap((block, index) => blockFaults(block, `${place}.content.${index}`));
}

function blockFaults(block: Json, place: string): string[] {
  const { type, text, id, name, input, tool_use_id: answered, content } = block;
  const faults: string[] = [];
  if (type === 'text' && (typeof text !== 'string' || text.trim() === '')) {
    faults.push(`${place}: text content blocks must contain non-whitespace text`);
  }
  if (type === 'tool_use') {
    if (!ID.test(String(id))) faults.push(`${place}.tool_use.id: String should match pattern '${ID.source}'`);
    if (!NAME.test(String(name))) faults.push(`${place}.tool_use.name: String should match pattern '${NAME.source}'`);
    if (!isObject(input)) faults.push(`${place}.tool_use.input: Input should be a valid dictionary`);
  }
  if (type === 'tool_result') {
    if (!ID.test(String(answered))) faults.push(`${place}.tool_result.tool_use_id: String should match pattern`);
    faults.push(...listOf(content).flatMap((inner, index) => blockFaults(inner, `${place}.content.${index}`)));
  }
  if (block['cache_control'] !== undefined && NOT_MARKED.includes(String(type))) {
    faults.push(`${place}.${String(type)}.cache_control: Extra inputs are not permitted`);
  }
  return faults;
}

/** Each call is answered at the beginning of the next message, and nothing else is. */
function pairFaults(messages: readonly Json[]): string[] {
  return messages.flatMap((message, index) => {
    const called = idsOf(message, 'tool_use', 'id');
    const next = messages[index + 1];
    const answered = next === undefined ? [] : idsOf(next, 'tool_result', 'tool_use_id');
    const before = index === 0 ? [] : idsOf(messages[index - 1] as Json, 'tool_use', 'id');
    const own = idsOf(message, 'tool_result', 'tool_use_id');
    const types = listOf(message['content']).map(({ type }) => type);
    const late = types.lastIndexOf('tool_result') >= own.length;
    return [
      ...called
        .filter((id) => !answered.includes(id))
        .map((id) => `messages.${index}: tool_use ids were found without tool_result blocks immediately after: ${id}`),
      ...own
        .filter((id) => !before.includes(id))
        .map((id) => `messages.${index}: unexpected tool_use_id found in tool_result blocks: ${id}`),
      ...(late ? [`messages.${index}: tool_result blocks must come first`] : []),
    ];
  });
}

function thinkingFaults(body: Json, messages: readonly Json[]): string[] {
  const { thinking, max_tokens: most, temperature } = body;
  if (!isObject(thinking) || thinking['type'] !== 'enabled') return [];
  const budget = Number(thinking['budget_tokens']);
  const faults: string[] = [];
  if (!(budget >= LEAST_THINKING)) faults.push(`thinking.budget_tokens: should be at least ${LEAST_THINKING}`);
  if (budget >= Number(most)) faults.push('max_tokens must be greater than thinking.budget_tokens');
  if (temperature !== undefined && temperature !== 1) faults.push('temperature may only be set to 1 with thinking');
  messages.forEach(({ role, content }, index) => {
    const types = listOf(content).map(({ type }) => String(type));
    const last = Math.max(...NOT_MARKED.map((type) => types.indexOf(type)));
    if (role === 'assistant' && last > 0) faults.push(`messages.${index}: thinking blocks must come first`);
  });
  return faults;
}

function toolFaults(tool: Json, index: number): string[] {
  const { name, input_schema: schema } = tool;
  const unknown = Object.keys(tool).filter((field) => !TOOL.includes(field));
  return [
    ...unknown.map((field) => `tools.${index}.${field}: Extra inputs are not permitted`),
    ...(NAME.test(String(name)) ? [] : [`tools.${index}.name: String should match pattern`]),
    ...(isObject(schema) && ['anyOf', 'oneOf', 'allOf'].some((word) => word in schema)
      ? [`tools.${index}.input_schema does not support oneOf, allOf, or anyOf at the top level`]
      : []),
    ...(isObject(schema) && schema['type'] === 'object' ? [] : [`tools.${index}.input_schema.type: Field required`]),
  ];
}

function marks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + marks(one), 0);
  if (!isObject(value)) return 0;
  return (value['cache_control'] === undefined ? 0 : 1) + marks(Object.values(value));
}

function idsOf({ content }: Json, type: string, field: string): string[] {
  return listOf(content)
    .filter((block) => block['type'] === type)
    .map((block) => String(block[field]));
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
