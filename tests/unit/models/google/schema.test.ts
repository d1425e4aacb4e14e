import type { JsonObject } from '../../../../contracts';
import { toGeminiParameters } from '../../../../models/google/schema';
import { schemaFaults } from '../../../support/providers/gemini-schema';

const WITHOUT_PROPERTIES: JsonObject[] = [{ type: 'object' }, { type: 'object', properties: {} }, {}];
const TREE: JsonObject = {
  type: 'object',
  properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } },
  required: ['name'],
};

/** How a parameter goes out. */
function sent(parameter: JsonObject, definitions: JsonObject = {}): unknown {
  const schema = { type: 'object', properties: { it: parameter }, $defs: definitions };
  const parameters = toGeminiParameters(schema);
  expect(schemaFaults(parameters, 'parameters')).toEqual([]);
  return (parameters?.['properties'] as JsonObject)['it'];
}

describe('a parameter of a function that Gemini is told about', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['a text', { type: 'string', description: 'A text' }, { type: 'STRING', description: 'A text' }],
    [
      'a number or nothing',
      { default: null, description: 'A line', anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
      { type: 'INTEGER', description: 'A line', minimum: 1, nullable: true },
    ],
    ['a text or nothing, as a list of types', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    [
      'one of two kinds',
      { type: ['string', 'integer'], description: 'A name' },
      {
        anyOf: [
          { type: 'STRING', description: 'A name' },
          { type: 'INTEGER', description: 'A name' },
        ],
      },
    ],
    [
      'one of two kinds or nothing',
      { oneOf: [{ type: 'string' }, { anyOf: [{ type: 'boolean' }, { type: 'null' }] }, { type: 'null' }] },
      {
        anyOf: [
          { type: 'STRING', nullable: true },
          { type: 'BOOLEAN', nullable: true },
        ],
      },
    ],
    ['nothing but null', { type: ['null'] }, { type: 'STRING', nullable: true }],
    [
      'a safe integer',
      { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991, default: 200 },
      { type: 'INTEGER', default: 200 },
    ],
    ['a positive integer', { type: 'integer', exclusiveMinimum: 0 }, { type: 'INTEGER', minimum: 1 }],
    ['a number below one', { type: 'number', exclusiveMaximum: 1, multipleOf: 0.1 }, { type: 'NUMBER', maximum: 1 }],
    ['a choice of texts', { enum: ['a', '', 'b'] }, { type: 'STRING', format: 'enum', enum: ['a', 'b'] }],
    ['a choice of numbers', { type: 'integer', enum: [1, 2] }, { type: 'INTEGER' }],
    ['a constant', { const: 'a' }, { type: 'STRING', format: 'enum', enum: ['a'] }],
    ['an address', { type: 'string', format: 'uri' }, { type: 'STRING' }],
    ['a moment', { type: 'string', format: 'date-time' }, { type: 'STRING', format: 'date-time' }],
    ['a list of anything', { type: 'array' }, { type: 'ARRAY', items: { type: 'STRING' } }],
    [
      'a list of distinct numbers',
      { type: 'array', items: { type: 'number' }, minItems: 1, uniqueItems: true },
      { type: 'ARRAY', items: { type: 'NUMBER' }, minItems: 1 },
    ],
    ['a mapping', { type: 'object', additionalProperties: { type: 'string' } }, { type: 'OBJECT' }],
    [
      'an object',
      { properties: { a: { type: 'string' } }, required: ['a', 'b'], additionalProperties: false },
      { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['a'] },
    ],
    [
      'all of several',
      {
        allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'boolean' } }, required: ['b'] }],
      },
      { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'BOOLEAN' } }, required: ['b'] },
    ],
    ['anything', {}, { type: 'STRING' }],
    ['a kind that is not known', { type: 'any' }, { type: 'STRING' }],
  ])('%s', (_, schema, expected) => {
    expect(sent(schema)).toEqual(expected);
  });

  it('that refers to a definition, or to nothing, is written out', () => {
    const definitions = { path: { type: 'string', description: 'A path' } };
    const reference: JsonObject = { anyOf: [{ $ref: '#/$defs/path' }, { type: 'null' }] };
    expect(sent(reference, definitions)).toEqual({ type: 'STRING', description: 'A path', nullable: true });
    expect(sent({ $ref: '#/$defs/none' })).toEqual({ type: 'STRING' });
  });

  it('that refers to itself is written out once', () => {
    expect(sent({ $ref: '#/$defs/tree' }, { tree: TREE })).toEqual({
      type: 'OBJECT',
      properties: { name: { type: 'STRING' }, children: { type: 'ARRAY', items: { type: 'OBJECT' } } },
      required: ['name'],
    });
  });
});

it.each(WITHOUT_PROPERTIES)('a function without parameters has none: %j', (schema) => {
  expect(toGeminiParameters(schema)).toBeUndefined();
});

describe('the strict reading of a schema in the tests', () => {
  it.each([
    { type: 'string' },
    { type: ['STRING', 'NULL'] },
    { type: 'STRING', $schema: 'x' },
    { type: 'STRING', format: 'uri' },
    { type: 'STRING', default: null },
    { type: 'INTEGER', enum: [1] },
    { type: 'INTEGER', exclusiveMinimum: 0 },
    { type: 'INTEGER', maximum: Number.MAX_SAFE_INTEGER },
    { type: 'ARRAY' },
    { type: 'OBJECT', additionalProperties: false },
    { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['b'] },
    { anyOf: [{ type: 'STRING' }, { type: 'NULL' }] },
    { anyOf: [{ type: 'STRING' }], description: 'beside' },
    { $ref: '#/$defs/a' },
  ])('refuses %j', (schema) => {
    expect(schemaFaults(schema, 'schema')).not.toEqual([]);
  });
});
