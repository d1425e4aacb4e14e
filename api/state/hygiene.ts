import type { JsonObject, JsonValue } from '../../contracts';

const DATA_URL = /^data:[^,]{0,200};base64,/i;

/**
 * A stored message as clients may have it. Images that were put into hidden messages for the model alone are taken out;
 * all other messages go out as the text that is stored, without being parsed.
 */
export function visibleMessage(body: string): string {
  if (!body.includes('"hide_from_ui"') || !body.includes('base64')) return body;
  const message = JSON.parse(body) as JsonObject;
  return JSON.stringify(withoutHiddenImages(message));
}

export function withoutHiddenImages(message: JsonObject): JsonObject {
  const kwargs = message['additional_kwargs'];
  const { content } = message;
  if (!isObject(kwargs) || kwargs['hide_from_ui'] !== true || !Array.isArray(content)) return message;
  return { ...message, content: content.filter((block) => !isInlineImage(block)) };
}

function isInlineImage(block: JsonValue): boolean {
  if (!isObject(block)) return false;
  if (block['type'] === 'image') return block['source_type'] === 'base64' || typeof block['data'] === 'string';
  if (block['type'] !== 'image_url') return false;
  const image = block['image_url'];
  const url = isObject(image) ? image['url'] : image;
  return typeof url === 'string' && DATA_URL.test(url);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
