import { fault } from '../http/validation';

const NAME = /^[a-z0-9-]+$/;
const LONGEST_NAME = 128;

/** The agent that everybody has, as run records call it. */
export const LEAD_AGENT = 'lead_agent';
const LEAD_AGENT_NAME = 'lead-agent';

/** The agent of a request: the lead agent by any of its spellings, or the name of another, which the run will look up. */
export function assistantName(asked: string | null | undefined): string {
  if (asked === null || asked === undefined) return LEAD_AGENT;
  const name = asked.toLowerCase().replaceAll('_', '-');
  if (!NAME.test(name) || name.length > LONGEST_NAME) {
    const pattern = NAME.source;
    const msg = `String should match pattern '${pattern}'`;
    throw fault('string_pattern_mismatch', ['body', 'assistant_id'], msg, asked, { pattern });
  }
  return name === LEAD_AGENT_NAME ? LEAD_AGENT : name;
}
