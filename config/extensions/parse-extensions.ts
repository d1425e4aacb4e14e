import type { Extensions } from '../../contracts/schemas/extensions';
import { extensionsSchema } from '../../contracts/schemas/extensions';
import { configError } from '../config-error';
import type { EnvironmentVariables } from '../environment-variables';
import { referencedVariable } from '../interpolate';

const MAX_BYTES = 2 * 1024 * 1024;

/** The file as it is written: with references to variables, and with keys that this server does not know. */
export type ExtensionsDocument = Readonly<Record<string, unknown>>;

export function parseExtensionsText(bytes: Uint8Array, file: string): ExtensionsDocument {
  if (bytes.byteLength > MAX_BYTES) throw configError(file, [], `expected at most ${MAX_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // The parser's own words repeat the text around the fault, which may be a key.
    throw configError(file, [], 'expected JSON; the file may be written only in part');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw configError(file, [], 'expected a mapping of keys to values at the top level');
  }
  return Object.fromEntries(Object.entries(value));
}

/** @param overrides The section `extensions` of `config.yaml`: a field that is set there wins. */
export function resolveExtensions(
  document: ExtensionsDocument,
  env: EnvironmentVariables,
  { file, overrides = {} }: { file: string; overrides?: ExtensionsDocument },
): Extensions {
  const resolved = withVariables(setKeys({ ...document, ...setKeys(overrides) }), env);
  const result = extensionsSchema.safeParse(resolved);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  // Values are not repeated. Most faults are of type or range, and the schema's words name neither.
  throw configError(file, issue?.path ?? [], issue?.message ?? 'expected another value');
}

/** Without keys that are null, which means the same as absent. */
export function setKeys(document: ExtensionsDocument): ExtensionsDocument {
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null && value !== undefined));
}

/** Unlike in `config.yaml`, a variable that is not set is empty text: a server that is off needs no key. */
function withVariables(value: unknown, env: EnvironmentVariables): unknown {
  if (typeof value === 'string') {
    const name = referencedVariable(value);
    return name === null ? value : (env[name] ?? '');
  }
  if (Array.isArray(value)) return value.map((item) => withVariables(item, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withVariables(item, env)]));
}
