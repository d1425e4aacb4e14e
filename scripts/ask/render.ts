/** Turns the frames of a run into lines for a person: the answer on one output, what happens besides on the other. */
import type { JsonObject, JsonValue } from '../../contracts';
import type { StreamFrame } from './event-stream';

export interface Outputs {
  /** The answer. */
  answer(text: string): void;
  /** A line about the work. */
  note(line: string): void;
}

export interface Renderer {
  show(frame: StreamFrame): void;
  /** Shows what a state holds and no frame brought. */
  showValues(values: JsonObject): void;
  /** Files that this run produced. */
  artifacts(): string[];
  finish(): void;
}

const ARGUMENTS_WIDTH = 100;

export function createRenderer(outputs: Outputs): Renderer {
  /** Length of the text shown, by message. */
  const shown = new Map<string, number>();
  const seenCalls = new Set<string>();
  let before: ReadonlySet<string> | undefined;
  let artifacts: string[] = [];
  let writing: string | undefined;

  const endText = () => {
    if (writing !== undefined) outputs.answer('\n');
    writing = undefined;
  };
  const note = (line: string) => {
    endText();
    outputs.note(line);
  };
  const write = (id: string, text: string) => {
    if (text === '') return;
    if (writing !== id) endText();
    writing = id;
    shown.set(id, (shown.get(id) ?? 0) + text.length);
    outputs.answer(text);
  };

  const showMessages = (data: JsonValue) => {
    const message = asObject(Array.isArray(data) ? data[0] : undefined);
    const id = String(message.id ?? '');
    if (message.type === 'AIMessageChunk') write(id, textOf(message.content));
    else if (message.type === 'ai' && !shown.has(id)) write(id, textOf(message.content));
  };

  const showValues = (values: JsonObject) => {
    const messages = (Array.isArray(values.messages) ? values.messages : []).map(asObject);
    const files = (Array.isArray(values.artifacts) ? values.artifacts : []).map(String);
    if (before === undefined) {
      // The first state is what there was before the answer.
      before = new Set([...messages.map((message) => String(message.id)), ...files]);
      return;
    }
    const known = before;
    for (const message of messages) if (!known.has(String(message.id))) showWhole(message);
    artifacts = files.filter((file) => !known.has(file));
  };

  const showWhole = (message: JsonObject) => {
    if (asObject(message.additional_kwargs).hide_from_ui === true) return;
    if (message.type === 'ai') {
      const id = String(message.id);
      if (!shown.has(id)) write(id, textOf(message.content));
      for (const call of listOf(message.tool_calls)) showCall(call);
    }
    if (message.type === 'tool' && message.status === 'error') showFailure(message);
  };

  const showCall = (call: JsonObject) => {
    const id = `call ${String(call.id)}`;
    if (seenCalls.has(id)) return;
    seenCalls.add(id);
    note(`> ${String(call.name)} ${shorten(JSON.stringify(call.args ?? {}))}`);
  };

  const showFailure = (message: JsonObject) => {
    const id = `failure ${String(message.tool_call_id)}`;
    if (seenCalls.has(id)) return;
    seenCalls.add(id);
    note(`  ${String(message.name ?? 'the tool')} failed: ${shorten(textOf(message.content))}`);
  };

  const showCustom = (data: JsonObject) => {
    if (data.type === 'task_started') note(`> subtask: ${shorten(String(data.description ?? ''))}`);
    if (data.type === 'llm_retry') note(`  ${shorten(String(data.message ?? 'The model is asked again.'))}`);
  };

  return {
    show(frame) {
      if (frame.event === 'messages') showMessages(frame.data);
      else if (frame.event === 'values') showValues(asObject(frame.data));
      else if (frame.event === 'custom') showCustom(asObject(frame.data));
      else if (frame.event === 'error') note(`Error: ${String(asObject(frame.data).message ?? 'unknown')}`);
    },
    showValues,
    artifacts: () => artifacts,
    finish: endText,
  };
}

/** Content is text or a list of parts, of which the text ones count. */
function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .filter((part) => part.type === 'text')
    .map((part) => String(part.text ?? ''))
    .join('');
}

function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}

function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > ARGUMENTS_WIDTH ? `${line.slice(0, ARGUMENTS_WIDTH - 1)}…` : line;
}
