/**
 * Host paths never reach the model: what leaves a sandbox has them replaced by virtual ones, and commands for the host
 * shell get the reverse.
 */

export interface PathPair {
  virtual: string;
  host: string;
}

/** What may follow a root for it to be that root and not the beginning of a longer name; a full stop may end a text. */
const BOUNDARY = '(?=[/\\\\]|$|[^A-Za-z0-9_./-]|\\.(?:\\s|$))';
const TAIL = '([^\\s"\';&|<>()]*)';

/** Replaces every host root, in either slash style, by its virtual root; the longest root wins. */
export function createPathMask(pairs: readonly PathPair[]): (text: string) => string {
  const virtualOf = new Map(pairs.map((pair) => [pair.host, pair.virtual]));
  const hosts = [...virtualOf.keys()].filter((host) => host.length > 1).sort((a, b) => b.length - a.length);
  if (hosts.length === 0) return (text) => text;
  const alternatives = hosts.map(escapePattern).join('|');
  const pattern = new RegExp(`(?:${alternatives})${BOUNDARY}`, 'g');
  const windows = new RegExp(`(${alternatives.replaceAll('/', '\\\\')})${BOUNDARY}${TAIL}`, 'g');
  return (text) =>
    text
      .replace(pattern, (host) => virtualOf.get(host) ?? host)
      .replace(windows, (whole, host: string, tail: string) => {
        const virtual = virtualOf.get(host.replaceAll('\\', '/'));
        return virtual === undefined ? whole : virtual + tail.replaceAll('\\', '/');
      });
}

/** Replaces virtual roots in a shell command by host roots, escaped for the quotes that they stand in. */
export function translateCommand(command: string, pairs: readonly PathPair[]): string {
  const ordered = [...pairs].sort((a, b) => b.virtual.length - a.virtual.length);
  const alternatives = ordered.map((pair) => escapePattern(pair.virtual)).join('|');
  if (!alternatives) return command;
  const root = new RegExp(
    `(?:(?<![A-Za-z0-9_./-])|(?<=(?:^|\\s)-[A-Za-z]))(?:${alternatives})(?=/|$|[^A-Za-z0-9_./-])`,
    'y',
  );
  let result = '';
  let quote: '' | "'" | '"' = '';
  for (let index = 0; index < command.length;) {
    root.lastIndex = index;
    const found = root.exec(command)?.[0];
    const pair = found === undefined ? undefined : ordered.find((candidate) => candidate.virtual === found);
    if (pair) {
      result += escapeForShell(pair.host, quote);
      index += pair.virtual.length;
      continue;
    }
    const character = command[index] ?? '';
    if (character === '\\' && quote !== "'") {
      result += command.slice(index, index + 2);
      index += 2;
      continue;
    }
    if (quote === '' && (character === "'" || character === '"')) quote = character;
    else if (quote === character) quote = '';
    result += character;
    index += 1;
  }
  return result;
}

function escapeForShell(path: string, quote: '' | "'" | '"'): string {
  if (quote === "'") return path.replaceAll("'", "'\\''");
  return quote === '"' ? path.replace(/["$`\\]/g, '\\$&') : path.replace(/[^A-Za-z0-9_./-]/g, '\\$&');
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
