/**
 * JSON Schema in the form that Gemini takes for the parameters of a function: a part of OpenAPI 3.0. It refuses a whole
 * request for one field that it does not know. What cannot be said there is left out: arguments are checked again here.
 */
import type { JsonObject, JsonValue } from '../../contracts';

/** Fields that mean the same on both sides. */
const SAME_FIELDS = ['title', 'description', 'minItems', 'maxItems', 'minLength', 'maxLength', 'pattern'];
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  STRING: ['date-time'],
  INTEGER: ['int32', 'int64'],
  NUMBER: ['float', 'double'],
};
const TYPES = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'];
/** What lies deeper is not described. */
const DEEPEST = 12;

interface Place {
  root: JsonObject;
  depth: number;
  /** References that led here: one that leads back to itself is not followed again. */
  followed: readonly string[];
}

/**
 * Undefined for a function without parameters: the provider wants none then, not an empty object. Choices between whole
 * sets of parameters cannot be said.
 */
export function toGeminiParameters(schema: JsonObject): JsonObject | undefined {
  const converted = convert({ ...schema, anyOf: null, oneOf: null }, { root: schema, depth: 0, followed: [] });
  return isObject(converted['properties']) ? converted : undefined;
}

function convert(schema: JsonValue | undefined, place: Place): JsonObject {
  if (!isObject(schema) || place.depth > DEEPEST) return { type: 'STRING' };
  const { whole, inner } = merged(schema, { ...place, depth: place.depth + 1 });
  const options = optionsOf(whole);
  if (options === null) return { ...convertOne(whole, inner), ...nullableIf(whole['nullable'] === true) };
  const real = options.filter(({ type }) => type !== 'null');
  const converted = real.map((option) => convert(real.length > 1 ? { ...option, default: null } : option, inner));
  const nullable = nullableIf(whole['nullable'] === true || real.length < options.length);
  const flat = converted.flatMap((one) => (Array.isArray(one['anyOf']) ? one['anyOf'].filter(isObject) : [one]));
  const [only = { type: 'STRING' }] = flat;
  return flat.length > 1 ? { anyOf: flat.map((one) => ({ ...one, ...nullable })) } : { ...only, ...nullable };
}

function nullableIf(nullable: boolean): JsonObject {
  return nullable ? { nullable } : {};
}

/** What a value may be, each whole, for beside `anyOf` nothing may stand; null where there is no choice. */
function optionsOf({ anyOf, oneOf, ...rest }: JsonObject): JsonObject[] | null {
  const options = [anyOf, oneOf].find(Array.isArray);
  if (options !== undefined) return options.filter(isObject).map((option) => join(rest, option));
  return Array.isArray(rest['type']) ? rest['type'].map((type) => ({ ...rest, type })) : null;
}

/** One schema for what it refers to and all that must hold at once. */
function merged(schema: JsonObject, place: Place): { whole: JsonObject; inner: Place } {
  const { $ref: reference, allOf, ...own } = schema;
  const parts = listOr(allOf).filter(isObject);
  const followed = [...place.followed];
  if (typeof reference === 'string') {
    const known = followed.includes(reference);
    const found = known ? { type: 'object' } : resolve(reference, place.root);
    followed.push(reference);
    if (isObject(found)) parts.push(found);
  }
  const inner = { ...place, followed };
  if (parts.length === 0 || place.depth > DEEPEST) return { whole: own, inner };
  const deeper = { ...inner, depth: place.depth + 1 };
  return { whole: join(parts.map((part) => merged(part, deeper).whole).reduce(join, {}), own), inner };
}

function join(below: JsonObject, above: JsonObject): JsonObject {
  const properties = { ...objectOr(below['properties']), ...objectOr(above['properties']) };
  const required = [...listOr(below['required']), ...listOr(above['required'])];
  return {
    ...below,
    ...above,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

function resolve(reference: string, root: JsonObject): JsonValue | undefined {
  const names = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
  return names.reduce<JsonValue | undefined>((inner, name) => (isObject(inner) ? inner[name] : undefined), root);
}

function convertOne(schema: JsonObject, place: Place): JsonObject {
  const type = typeOf(schema);
  const converted: JsonObject = { type };
  for (const field of SAME_FIELDS) if (schema[field] !== undefined) converted[field] = schema[field];
  if (schema['default'] !== undefined && schema['default'] !== null) converted['default'] = schema['default'];
  const { format } = schema;
  if (typeof format === 'string' && FORMATS[type]?.includes(format)) converted['format'] = format;
  if (type === 'INTEGER' || type === 'NUMBER') Object.assign(converted, bounds(schema, type));
  if (type === 'STRING') Object.assign(converted, choice(schema));
  if (type === 'ARRAY') converted['items'] = convert(itemsOf(schema), place);
  if (type === 'OBJECT') Object.assign(converted, members(schema, place));
  return converted;
}

function typeOf(schema: JsonObject): string {
  const named = typeof schema['type'] === 'string' ? schema['type'].toUpperCase() : '';
  if (TYPES.includes(named)) return named;
  if (isObject(schema['properties'])) return 'OBJECT';
  if (schema['items'] !== undefined) return 'ARRAY';
  const [value] = valuesOf(schema);
  if (typeof value === 'number') return 'NUMBER';
  return typeof value === 'boolean' ? 'BOOLEAN' : 'STRING';
}

function valuesOf(schema: JsonObject): JsonValue[] {
  return schema['const'] === undefined ? listOr(schema['enum']) : [schema['const']];
}

/** Only texts can be chosen from, and none may be empty. */
function choice(schema: JsonObject): JsonObject {
  const values = valuesOf(schema).filter((value) => typeof value === 'string' && value !== '');
  return values.length === 0 ? {} : { format: 'enum', enum: values };
}

/** Bounds that only say "a safe integer" are left out. */
function bounds(schema: JsonObject, type: string): JsonObject {
  const step = type === 'INTEGER' ? 1 : 0;
  const bound = (plain: string, exclusive: string, towards: number): number | null => {
    const [value, beyond] = [schema[plain], schema[exclusive]];
    const found = typeof beyond === 'number' ? beyond + towards * step : value;
    return typeof found === 'number' && Math.abs(found) < Number.MAX_SAFE_INTEGER ? found : null;
  };
  const minimum = bound('minimum', 'exclusiveMinimum', 1);
  const maximum = bound('maximum', 'exclusiveMaximum', -1);
  return { ...(minimum === null ? {} : { minimum }), ...(maximum === null ? {} : { maximum }) };
}

/** A list must say what it holds. */
function itemsOf(schema: JsonObject): JsonValue {
  const { items, prefixItems } = schema;
  if (Array.isArray(prefixItems) && prefixItems.length > 0) return { anyOf: prefixItems };
  return isObject(items) ? items : { type: 'string' };
}

function members(schema: JsonObject, place: Place): JsonObject {
  const properties = objectOr(schema['properties']);
  const names = Object.keys(properties);
  if (names.length === 0) return {};
  const required = [...new Set(listOr(schema['required']))].filter((name) => names.some((known) => known === name));
  return {
    properties: Object.fromEntries(names.map((name) => [name, convert(properties[name], place)])),
    ...(required.length === 0 ? {} : { required }),
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOr(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function listOr(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
