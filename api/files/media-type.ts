/** What a browser is told about a file: its type, and whether it may show it in the page. */
import { isUtf8 } from 'node:buffer';
import { lookup } from 'mime-types';

export interface Presentation {
  contentType: string;
  disposition: string;
}

/** Types that can carry scripts: shown from our own origin, they would act as the user. */
const ACTIVE_TYPES = new Set(['text/html', 'application/xhtml+xml', 'text/xml', 'application/xml', 'text/xsl']);

/** Endings that are source code here, whatever else the type registry knows under them. */
const SOURCE_ENDINGS = /\.(ts|mts|cts|tsx)$/i;

export function presentationOf(name: string, start: Buffer, download: boolean): Presentation {
  const type = mediaType(name, start);
  const attached = download || isActive(type);
  const contentType = type.startsWith('text/') ? `${type}; charset=utf-8` : type;
  return { contentType, disposition: `${attached ? 'attachment' : 'inline'}; filename*=UTF-8''${encodeName(name)}` };
}

/** @param start the first bytes: an unknown type is text where they are. */
function mediaType(name: string, start: Buffer): string {
  const known = SOURCE_ENDINGS.test(name) ? false : lookup(name);
  if (known !== false) return known;
  return looksLikeText(start) ? 'text/plain' : 'application/octet-stream';
}

function isActive(type: string): boolean {
  return ACTIVE_TYPES.has(type) || type.endsWith('+xml');
}

/** How much of a file decides whether it is text. */
export const SNIFFED_BYTES = 8192;

export function looksLikeText(start: Buffer): boolean {
  if (start.includes(0)) return false;
  // The cut may have fallen into a character of up to four bytes.
  const spare = start.length < SNIFFED_BYTES ? 0 : 3;
  for (let cut = 0; cut <= spare; cut += 1) {
    if (isUtf8(start.subarray(0, start.length - cut))) return true;
  }
  return false;
}

/** RFC 8187: everything but its attribute characters is percent-encoded. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
