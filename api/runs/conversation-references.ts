import type { JsonValue } from '../../contracts';
import { AppError } from '../../contracts';
import type { Config } from '../../contracts/schemas/config';
import type { RunCreateRequest } from '../../contracts/schemas/run-request';
import { MAX_REFERENCES } from '../../contracts/schemas/run-request';
import { fault } from '../http/validation';

const READER_TOOL = 'read_conversation';
const LONGEST_REFERENCE = 2048;

/** Other conversations that a run may read, from either of the two places where a request may name them. */
export function checkReferences(config: Config, request: RunCreateRequest): string[] {
  const inContext = request.context['conversation_references'];
  const direct = request.conversation_references ?? null;
  if (inContext !== undefined && inContext !== null && direct !== null) {
    const loc = ['body', 'conversation_references'];
    const msg = 'conversation_references must be sent once, in the body or in its context';
    throw fault('conversation_references_conflict', loc, msg, direct);
  }
  const references = direct ?? contextReferences(inContext);
  if (references.length > 0 && !(config.tools ?? []).some((tool) => tool.name === READER_TOOL)) {
    throw new AppError('bad_request', 'read_conversation is not enabled');
  }
  return references;
}

function contextReferences(value: JsonValue | undefined): string[] {
  if (value === undefined || value === null) return [];
  const loc = ['body', 'context', 'conversation_references'];
  if (!Array.isArray(value)) throw fault('list_type', loc, 'Input should be a valid list', value);
  if (value.length > MAX_REFERENCES) {
    const msg = `List should have at most ${MAX_REFERENCES} items`;
    throw fault('too_long', loc, msg, value, { max_length: MAX_REFERENCES });
  }
  return value.map((reference, place) => {
    if (typeof reference === 'string' && reference !== '' && reference.length <= LONGEST_REFERENCE) return reference;
    throw fault('string_type', [...loc, place], 'Input should be a valid string', reference);
  });
}
