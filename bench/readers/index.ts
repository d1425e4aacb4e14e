/** Readers of one stream in a process of their own, for measuring how late events arrive and whether any is lost. */
export { createFrameSplitter, parseId } from './frames';
export type { StreamFrame } from './frames';
export type { ReadReport } from './protocol';
export { startReaders } from './readers';
export type { Readers } from './readers';
export { readerFault } from './soundness';
