/** What Gemini documents of its Schema object, a part of OpenAPI 3.0: it refuses fields that it does not know. */

type Json = Record<string, unknown>;

const ANYWHERE = ['type', 'title', 'description', 'nullable', 'default', 'example'];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  STRING: ['format', 'enum', 'minLength', 'maxLength', 'pattern'],
  INTEGER: ['format', 'minimum', 'maximum'],
  NUMBER: ['format', 'minimum', 'maximum'],
  BOOLEAN: [],
  ARRAY: ['items', 'minItems', 'maxItems'],
  OBJECT: ['properties', 'required', 'propertyOrdering', 'minProperties', 'maxProperties'],
};
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  STRING: ['enum', 'date-time'],
  INTEGER: ['int32', 'int64'],
  NUMBER: ['float', 'double'],
};
const NUMBERS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'];

/** What is wrong with a schema, each with its place. */
export function schemaFaults(schema: unknown, place: string): string[] {
  if (!isObject(schema)) return [`${place}: expected a schema`];
  if (schema['anyOf'] !== undefined) return choiceFaults(schema, place);
  const type = typeof schema['type'] === 'string' ? schema['type'] : '';
  const own = FIELDS[type];
  if (own === undefined) return [`${place}.type: invalid value ${JSON.stringify(schema['type'])}`];
  const unknown = Object.keys(schema).filter((name) => !ANYWHERE.includes(name) && !own.includes(name));
  return [
    ...unknown.map((name) => `Unknown name "${name}" at '${place}': Cannot find field.`),
    ...valueFaults(schema, type, place),
    ...(type === 'ARRAY' ? schemaFaults(schema['items'], `${place}.items`) : []),
    ...(type === 'OBJECT' ? memberFaults(schema, place) : []),
  ];
}

function choiceFaults(schema: Json, place: string): string[] {
  const beside = Object.keys(schema).filter((name) => name !== 'anyOf');
  const options = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [];
  return [
    ...beside.map((name) => `${place}: ${name} stands beside any_of, which must be the only field`),
    ...(options.length === 0 ? [`${place}.any_of: should be non-empty`] : []),
    ...options.flatMap((option, index) => schemaFaults(option, `${place}.any_of[${index}]`)),
  ];
}

function valueFaults(schema: Json, type: string, place: string): string[] {
  const { format, nullable, enum: choices, default: initial } = schema;
  const faults: string[] = [];
  if (format !== undefined && !FORMATS[type]?.includes(String(format))) faults.push(`${place}.format: not supported`);
  if (nullable !== undefined && typeof nullable !== 'boolean') faults.push(`${place}.nullable: expected a boolean`);
  if (initial === null) faults.push(`${place}.default: expected a value`);
  if (choices !== undefined && !isTexts(choices)) faults.push(`${place}.enum: expected texts that are not empty`);
  for (const name of NUMBERS) {
    const value = schema[name];
    if (value === undefined) continue;
    if (typeof value !== 'number' || Math.abs(value) >= Number.MAX_SAFE_INTEGER)
      faults.push(`${place}.${name}: invalid`);
  }
  return faults;
}

function memberFaults({ properties = {}, required = [] }: Json, place: string): string[] {
  if (!isObject(properties)) return [`${place}.properties: expected a mapping`];
  const missing = Array.isArray(required) ? required.filter((name) => !(String(name) in properties)) : ['required'];
  return [
    ...missing.map((name) => `${place}.required[${String(name)}]: property is not defined`),
    ...Object.entries(properties).flatMap(([name, inner]) => [
      ...(/^[A-Za-z_][\w$.-]{0,63}$/.test(name) ? [] : [`${place}.properties: invalid name ${name}`]),
      ...schemaFaults(inner, `${place}.properties[${name}]`),
    ]),
  ];
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== '');
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
