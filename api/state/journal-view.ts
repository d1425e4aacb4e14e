import type { JsonObject, JsonValue } from '../../contracts';
import type { JournalMessageRow } from '../../db';
import { withoutHiddenImages } from './hygiene';
import { withTurnDuration } from './state-view';

/** A message event as clients read it. */
export function messageRow({ turnDuration, content, ...row }: JournalMessageRow): JsonObject {
  return { ...row, content: visibleContent(content, turnDuration), feedback: null };
}

function visibleContent(content: JsonValue, turnDuration: number | null): JsonValue {
  if (content === null || typeof content !== 'object' || Array.isArray(content)) return content;
  const message = withoutHiddenImages(content);
  return turnDuration === null ? message : withTurnDuration(message, turnDuration);
}

export interface MessagePage {
  data: JsonObject[];
  has_more: boolean;
}

/** A page out of one row more than it may hold: the extra one tells that there is more, at the end that was cut. */
export function messagePage(rows: JournalMessageRow[], limit: number, forward: boolean): MessagePage {
  const more = rows.length > limit;
  const kept = more ? (forward ? rows.slice(0, limit) : rows.slice(-limit)) : rows;
  return { data: kept.map(messageRow), has_more: more };
}
