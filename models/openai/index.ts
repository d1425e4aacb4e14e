/** The only folder that knows LangChain's OpenAI client. */
export { toClientOptions } from './client-options';
export { createOpenAiChatModel } from './openai-chat-model';
