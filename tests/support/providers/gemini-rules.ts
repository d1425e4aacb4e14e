/** What Gemini documents of a request, as far as an agent's requests touch it. */
import { isObject, schemaFaults } from './gemini-schema';

type Json = Record<string, unknown>;

const REQUEST = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings'];
const DECLARATION = ['name', 'description', 'parameters'];
const PART = [
  'text',
  'thought',
  'thoughtSignature',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
];
const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;

/** What the provider would refuse; empty for a good request. */
export function geminiFaults(body: Json): string[] {
  const { contents, systemInstruction, tools } = body;
  const unknown = Object.keys(body).filter((name) => !REQUEST.includes(name));
  return [
    ...unknown.map((name) => `Unknown name "${name}": Cannot find field.`),
    ...turnFaults(listOf(contents)),
    ...(systemInstruction === undefined ? [] : partsFaults(systemInstruction, 'system_instruction')),
    ...listOf(tools).flatMap((tool, index) => toolFaults(tool, `tools[${index}]`)),
  ];
}

function toolFaults(tool: unknown, place: string): string[] {
  const { functionDeclarations, ...beside } = isObject(tool) ? tool : {};
  const unknown = Object.keys(beside).map((name) => `Unknown name "${name}" at '${place}': Cannot find field.`);
  const declared = listOf(functionDeclarations).flatMap((declaration, index) => {
    const at = `${place}.function_declarations[${index}]`;
    if (!isObject(declaration)) return [`${at}: expected a declaration`];
    const { name, description, parameters } = declaration;
    return [
      ...Object.keys(declaration)
        .filter((field) => !DECLARATION.includes(field))
        .map((field) => `Unknown name "${field}" at '${at}': Cannot find field.`),
      ...(NAME.test(String(name)) ? [] : [`${at}.name: Invalid function name`]),
      ...(typeof description === 'string' && description !== '' ? [] : [`${at}.description: required`]),
      ...(parameters === undefined ? [] : parameterFaults(parameters, `${at}.parameters`)),
    ];
  });
  return [...unknown, ...declared];
}

function parameterFaults(parameters: unknown, place: string): string[] {
  const properties = isObject(parameters) ? parameters['properties'] : undefined;
  const empty = !isObject(properties) || Object.keys(properties).length === 0;
  return [
    ...(empty ? [`${place}.properties: should be non-empty for OBJECT type`] : []),
    ...schemaFaults(parameters, place),
  ];
}

/** Sides take turns, beginning with the user; calls are answered in the next turn, by as many parts as there were. */
function turnFaults(contents: readonly unknown[]): string[] {
  if (contents.length === 0) return ['contents is not specified'];
  let [side, calls] = ['model', 0];
  return contents.flatMap((content, index) => {
    const place = `contents[${index}]`;
    const role = isObject(content) ? String(content['role']) : '';
    const parts = isObject(content) ? listOf(content['parts']).filter(isObject) : [];
    const answers = parts.filter((part) => part['functionResponse'] !== undefined).length;
    const faults = partsFaults(content, place);
    if (!['user', 'model'].includes(role)) faults.push(`${place}: Please use a valid role: user, model.`);
    if (role === side) faults.push(`${place}: Please ensure that multiturn requests alternate between user and model`);
    if (answers !== calls) {
      faults.push(
        `${place}: Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.`,
      );
    }
    side = role;
    calls = parts.filter((part) => part['functionCall'] !== undefined).length;
    return faults;
  });
}

function partsFaults(content: unknown, place: string): string[] {
  const parts = isObject(content) ? listOf(content['parts']) : [];
  if (parts.length === 0) return [`${place}.parts: contents.parts must not be empty`];
  return parts.flatMap((part, index) => {
    const at = `${place}.parts[${index}]`;
    if (!isObject(part)) return [`${at}: expected a part`];
    const unknown = Object.keys(part).filter((name) => !PART.includes(name));
    const named = [part['functionCall'], part['functionResponse']].filter(isObject);
    return [
      ...unknown.map((name) => `Unknown name "${name}" at '${at}': Cannot find field.`),
      ...named.filter(({ name }) => !NAME.test(String(name))).map(() => `${at}: Invalid function name`),
      ...(part['text'] === '' && Object.keys(part).length === 1 ? [`${at}: must have one initialized field`] : []),
    ];
  });
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
