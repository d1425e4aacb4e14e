/** The only folder that knows Google's client. */
export { googleAdapters } from './adapters';
