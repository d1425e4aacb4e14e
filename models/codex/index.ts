export { codexAdapters } from './adapters';
