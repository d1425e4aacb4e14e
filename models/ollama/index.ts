/** The only folder that knows Ollama's client. */
export { ollamaAdapters } from './adapters';
