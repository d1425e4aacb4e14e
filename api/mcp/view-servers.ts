import type { Extensions } from '../../contracts/schemas/extensions';
import type { WrittenServers } from '../../contracts/schemas/mcp-config';
import { maskedServer } from './secrets';

const WITHOUT = { command: null, url: null, oauth: null };

/** What may be seen of the servers: defaults filled in, variables by their names, secrets as masks. */
export function viewServers(servers: Extensions['mcpServers'], written: WrittenServers) {
  const shown = Object.entries(servers).map(([name, server]) => {
    const plain = asWritten({ ...WITHOUT, ...server }, written[name]) as Record<string, unknown>;
    return [name, maskedServer(plain)];
  });
  return Object.fromEntries(shown) as Record<string, unknown>;
}

/** A text in the file may be the name of a variable: what the variable holds is nobody's to see, or to send back. */
function asWritten(value: unknown, written: unknown): unknown {
  if (typeof written === 'string') return written;
  if (Array.isArray(value)) {
    return value.map((item, index) => asWritten(item, Array.isArray(written) ? written[index] : undefined));
  }
  if (typeof value !== 'object' || value === null) return value;
  const source: object = typeof written === 'object' && written !== null ? written : {};
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, asWritten(item, Reflect.get(source, key))]),
  );
}
