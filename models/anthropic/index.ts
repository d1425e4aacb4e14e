/** The only folder that knows Anthropic's client. */
export { anthropicAdapters } from './adapters';
