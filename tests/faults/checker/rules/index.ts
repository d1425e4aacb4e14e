/** The promises that the fault suite holds the product to. A new rule needs a test in which it is broken. */
import type { Rule } from '../evidence';
import { pairedCalls, settledLedger } from './conversation';
import { effectsInLedger, effectsOfResults, effectsOnce, unknownOutcomes } from './effects';
import { eventSequence, expectedStatus, oneTerminalStatus } from './endings';
import { closedStreams, connections, keptSecrets, releasedThreads, strayProcesses } from './leftovers';
import { sameFrames, seamlessStreams } from './readers';
import { questionsInTurn } from './questions';
import { repliesWereGiven, storedReplies, tokenTotals } from './replies';
import { wholeEvidence } from './sight';
import { failingTasks, historySizes, workflowsEndWithRuns } from './workflows';

export const rules: readonly Rule[] = [
  oneTerminalStatus,
  expectedStatus,
  eventSequence,
  sameFrames,
  seamlessStreams,
  storedReplies,
  questionsInTurn,
  repliesWereGiven,
  tokenTotals,
  effectsOnce,
  effectsInLedger,
  effectsOfResults,
  unknownOutcomes,
  pairedCalls,
  settledLedger,
  closedStreams,
  keptSecrets,
  releasedThreads,
  strayProcesses,
  connections,
  workflowsEndWithRuns,
  failingTasks,
  historySizes,
  wholeEvidence,
];
