/** Which keys the configuration schema knows, for error texts, for unknown keys and for the check of the example file. */
import type { z } from 'zod';
import { configSchema } from '../contracts/schemas/config';

interface SchemaDefinition {
  type: string;
  shape?: Record<string, SchemaNode>;
  /** What becomes of unknown keys; without it they are left out. */
  catchall?: SchemaNode;
  element?: SchemaNode;
  valueType?: SchemaNode;
  innerType?: SchemaNode;
  in?: SchemaNode;
  out?: SchemaNode;
  options?: SchemaNode[];
}
interface SchemaNode {
  _zod: { def: SchemaDefinition };
}

/** Takes off the wrappers (default, nullable, preprocess, …) until an object, a list or a plain value is left. */
function unwrap(node: SchemaNode): SchemaNode {
  const { type, innerType, in: input, out, options } = node._zod.def;
  const mapping = options?.find((option) => unwrap(option)._zod.def.type === 'object');
  // A preprocessing step comes first, a transformation last: the schema of the file is the other part.
  const part = type === 'pipe' && input !== undefined && input._zod.def.type !== 'transform' ? input : out;
  const inner = innerType ?? part ?? mapping;
  return inner === undefined ? node : unwrap(inner);
}

function asNode(schema: z.ZodType): SchemaNode {
  return schema;
}

function nodeAt(path: ReadonlyArray<PropertyKey>): SchemaNode | null {
  let node: SchemaNode = unwrap(asNode(configSchema));
  for (const part of path) {
    const { shape, element, valueType }: SchemaDefinition = node._zod.def;
    const next: SchemaNode | undefined =
      typeof part === 'number' ? element : (ownProperty(shape, String(part)) ?? valueType);
    if (next === undefined) return null;
    node = unwrap(next);
  }
  return node;
}

function ownProperty(shape: Record<string, SchemaNode> | undefined, name: string): SchemaNode | undefined {
  return shape !== undefined && Object.hasOwn(shape, name) ? shape[name] : undefined;
}

/** The keys that may stand at a path, or an empty list where the path leads to no mapping. */
export function knownKeysAt(path: ReadonlyArray<PropertyKey>): string[] {
  return Object.keys(nodeAt(path)?._zod.def.shape ?? {});
}

/**
 * The keys of a mapping whose other keys are left out; null for any other place, and for mappings that refuse unknown
 * keys or pass them on. The top level refuses them in the schema and leaves them out in a file.
 */
export function keysAt(path: ReadonlyArray<PropertyKey>): ReadonlySet<string> | null {
  const definition = nodeAt(path)?._zod.def;
  if (definition?.shape === undefined) return null;
  if (definition.catchall !== undefined && path.length > 0) return null;
  return new Set(Object.keys(definition.shape));
}

/** Every key of the schema as a dotted name; entries of lists are written `models[].name`, of maps `agents.*.model`. */
export function schemaKeys(): string[] {
  const walk = (node: SchemaNode, prefix: string): string[] => {
    const { shape, element, valueType } = unwrap(node)._zod.def;
    if (element !== undefined) return walk(element, `${prefix}[]`);
    if (valueType !== undefined) return walk(valueType, `${prefix}.*`);
    return Object.entries(shape ?? {}).flatMap(([key, child]) => {
      const name = prefix === '' ? key : `${prefix}.${key}`;
      return [name, ...walk(child, name)];
    });
  };
  return walk(asNode(configSchema), '');
}
