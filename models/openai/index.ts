/** The only folder that knows LangChain's OpenAI client. */
export { openAiAdapters } from './adapters';
