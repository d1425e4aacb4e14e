import type { JsonValue, Message } from '../../contracts';

/**
 * SHA-256 of a file as the model last read it in this conversation, by normalised virtual path. The mark lies on the
 * result of the read, so that removing that message also removes the permission to write.
 */
export function newestReadMark(messages: readonly Message[], path: string): string | undefined {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    const mark = message?.type === 'tool' ? message.additional_kwargs['deerflow_read_mark'] : undefined;
    if (isMark(mark) && mark.path === path) return mark.hash;
  }
  return undefined;
}

function isMark(value: JsonValue | undefined): value is { path: string; hash: string } {
  return (
    value !== null &&
    typeof value === 'object' &&
    !Array.isArray(value) &&
    typeof value['path'] === 'string' &&
    typeof value['hash'] === 'string'
  );
}
