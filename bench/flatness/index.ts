/** How the cost of a turn changes along a long run, in time and in what is stored. */
export { commitTimes, faultOf, storedNow } from './stored';
export { growthPerTurn, medianMsPerTurn } from './turn-series';
export type { CommitTimes, Reading, Window } from './turn-series';
