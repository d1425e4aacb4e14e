/** Which keys the configuration schema knows, for error texts and for the check of the example file. */
import type { z } from 'zod';
import { configSchema } from '../contracts/schemas/config';

interface SchemaDefinition {
  type: string;
  shape?: Record<string, SchemaNode>;
  element?: SchemaNode;
  innerType?: SchemaNode;
  out?: SchemaNode;
}
interface SchemaNode {
  _zod: { def: SchemaDefinition };
}

/** Takes off the wrappers (default, nullable, preprocess, …) until an object, a list or a plain value is left. */
function unwrap(node: SchemaNode): SchemaNode {
  const { innerType, out } = node._zod.def;
  const inner = innerType ?? out;
  return inner === undefined ? node : unwrap(inner);
}

function asNode(schema: z.ZodType): SchemaNode {
  return schema;
}

/** The keys that may stand at a path, or an empty list where the path leads to no mapping. */
export function knownKeysAt(path: ReadonlyArray<PropertyKey>): string[] {
  let node: SchemaNode | undefined = unwrap(asNode(configSchema));
  for (const part of path) {
    const { shape, element }: SchemaDefinition = node._zod.def;
    const next: SchemaNode | undefined = typeof part === 'number' ? element : shape?.[String(part)];
    if (next === undefined) return [];
    node = unwrap(next);
  }
  return Object.keys(node._zod.def.shape ?? {});
}

/** Every key of the schema as a dotted name; entries of lists are written `models[].name`. */
export function schemaKeys(): string[] {
  const walk = (node: SchemaNode, prefix: string): string[] => {
    const { shape, element } = unwrap(node)._zod.def;
    if (element !== undefined) return walk(element, `${prefix}[]`);
    return Object.entries(shape ?? {}).flatMap(([key, child]) => {
      const name = prefix === '' ? key : `${prefix}.${key}`;
      return [name, ...walk(child, name)];
    });
  };
  return walk(asNode(configSchema), '');
}
