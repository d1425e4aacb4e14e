/**
 * Messages in the form that DeerFlow's clients read and that the message log stores: LangChain's wire form, one flat
 * object a message. Keys are snake_case because they are part of the public wire format.
 */
import type { JsonObject, JsonValue } from './json';

export interface TextBlock {
  type: 'text';
  text: string;
}

/** Content is a string or a list of content blocks (`text`, `image_url`, provider specific ones). */
export type MessageContent = string | Array<JsonObject>;

export interface ToolCall {
  name: string;
  args: JsonObject;
  id: string;
  type: 'tool_call';
}

/** A tool call whose arguments were no JSON object: kept so that the model can be told. */
export interface InvalidToolCall {
  name: string | null;
  args: string | null;
  id: string | null;
  error: string | null;
  type: 'invalid_tool_call';
}

/** Token counts of one model reply. */
export interface UsageMetadata {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  input_token_details?: JsonObject;
  output_token_details?: JsonObject;
}

interface MessageBase {
  id: string;
  content: MessageContent;
  additional_kwargs: JsonObject;
  response_metadata: JsonObject;
  name: string | null;
}

export interface HumanMessage extends MessageBase {
  type: 'human';
}

export interface SystemMessage extends MessageBase {
  type: 'system';
}

export interface AiMessage extends MessageBase {
  type: 'ai';
  tool_calls: ToolCall[];
  invalid_tool_calls: InvalidToolCall[];
  usage_metadata: UsageMetadata | null;
}

export interface ToolMessage extends MessageBase {
  type: 'tool';
  tool_call_id: string;
  status: 'success' | 'error';
  artifact: JsonValue;
}

export type Message = HumanMessage | SystemMessage | AiMessage | ToolMessage;
