/** Turns the frames of a run into lines for a person: the answer on one output, what happens besides on the other. */
import type { JsonObject, JsonValue } from '../../contracts';
import type { StreamFrame } from './event-stream';
import { asObject, asObjects, asText } from './json-access';

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
    const id = asText(message.id, '');
    if (message.type === 'AIMessageChunk') write(id, textOf(message.content));
    else if (message.type === 'ai' && !shown.has(id)) write(id, textOf(message.content));
  };

  const showValues = (values: JsonObject) => {
    const messages = asObjects(values.messages);
    const files = (Array.isArray(values.artifacts) ? values.artifacts : []).map((file) => asText(file));
    if (before === undefined) {
      // The first state is what there was before the answer.
      before = new Set([...messages.map((message) => asText(message.id)), ...files]);
      return;
    }
    const known = before;
    for (const message of messages) if (!known.has(asText(message.id))) showWhole(message);
    artifacts = files.filter((file) => !known.has(file));
  };

  const showWhole = (message: JsonObject) => {
    if (asObject(message.additional_kwargs).hide_from_ui === true) return;
    if (message.type === 'ai') {
      const id = asText(message.id);
      if (!shown.has(id)) write(id, textOf(message.content));
      for (const call of asObjects(message.tool_calls)) showCall(call);
    }
    if (message.type === 'tool' && message.status === 'error') showFailure(message);
  };

  const showCall = (call: JsonObject) => {
    const id = `call ${asText(call.id)}`;
    if (seenCalls.has(id)) return;
    seenCalls.add(id);
    note(`> ${asText(call.name)} ${shorten(JSON.stringify(call.args ?? {}))}`);
  };

  const showFailure = (message: JsonObject) => {
    const id = `failure ${asText(message.tool_call_id)}`;
    if (seenCalls.has(id)) return;
    seenCalls.add(id);
    note(`  ${asText(message.name, 'the tool')} failed: ${shorten(textOf(message.content))}`);
  };

  const showCustom = (data: JsonObject) => {
    if (data.type === 'task_started') note(`> subtask: ${shorten(asText(data.description, ''))}`);
    if (data.type === 'llm_retry') note(`  ${shorten(asText(data.message, 'The model is asked again.'))}`);
  };

  return {
    show(frame) {
      if (frame.event === 'messages') showMessages(frame.data);
      else if (frame.event === 'values') showValues(asObject(frame.data));
      else if (frame.event === 'custom') showCustom(asObject(frame.data));
      else if (frame.event === 'error') note(`Error: ${asText(asObject(frame.data).message, 'unknown')}`);
    },
    showValues,
    artifacts: () => artifacts,
    finish: endText,
  };
}

/** Content is text or a list of parts, of which the text ones count. */
function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return asObjects(content)
    .filter((part) => part.type === 'text')
    .map((part) => asText(part.text, ''))
    .join('');
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > ARGUMENTS_WIDTH ? `${line.slice(0, ARGUMENTS_WIDTH - 1)}…` : line;
}
