/** From rows to tables, files, plots and the document. Pure but for `machine.ts` and `files.ts`. */
export { documentFiles } from './document';
export { readResults, writeDocument, writeResult } from './files';
export { thisMachine, versionsOf } from './machine';
export type { Result } from './result';
export { resultRow } from './result';
export { tableCells, textTable } from './table';
export { peersOf } from './words';
