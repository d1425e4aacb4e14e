/** How the cost of a turn changes along a long run, in time and in what is stored. */
export { commitTimes, faultOf, historySizes, storedNow } from './stored';
export type { HistorySize } from './stored';
export { medianMsPerTurn, storedPerTurn } from './turn-series';
export type { CommitTimes, StoredAt, Window } from './turn-series';
