/** The only folder that knows LangChain's OpenAI client. */
export { openAiAdapters } from './adapters';
export { toClientOptions } from './client-options';
export type { ClientOptions } from './client-options';
export { createOpenAiChatModel } from './openai-chat-model';
export { createResponsesChatModel, reasoningOf, SEALED_THOUGHTS } from './responses';
export type { ToWire, WireMessage } from './wire-messages';
