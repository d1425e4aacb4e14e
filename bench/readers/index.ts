/** Readers of one stream in a process of their own, for measuring how late events arrive and whether any is lost. */
export { createFrameSplitter, parseId, stampedTokens } from './frames';
export type { StampedToken, StreamFrame } from './frames';
export type { ReaderReport, ReadReport, ReadRequest } from './protocol';
export { startReaders } from './readers';
export type { Readers } from './readers';
export { readerFault } from './soundness';
export type { Expected } from './soundness';
