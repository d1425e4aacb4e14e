/** What must hold for a run whatever died on its way. Pure. */

export interface RunEvidence {
  tag: string;
  /** Null where it is not stored. */
  status: string | null;
  /** Calls of the model that its plan has. */
  turns: number;
  /** Numbers of the stored events, in order. */
  storedNumbers: readonly number[];
  /** Kinds of the stored events that end the run. */
  runEnds: number;
  /** Numbers of the events that its subscriber got, in the order in which they came. */
  seenNumbers: readonly number[];
  seenEnd: boolean;
  /** When the reply of each turn was committed, in milliseconds since the epoch. */
  committedAt: readonly number[];
  /** When each turn was asked for, as the model counts. */
  askedAt: ReadonlyArray<readonly number[] | null>;
  effects: readonly Effect[];
}

export interface Effect {
  turn: number;
  /** How often it happened. */
  count: number;
  /** The model was told that nobody knows whether it happened. */
  unknown: boolean;
}

/** What is broken, in words; nothing where all is as it must be. */
export function faultsOf(evidence: RunEvidence): string[] {
  const { status, storedNumbers, runEnds, seenNumbers, seenEnd } = evidence;
  const faults = [
    status === 'success' ? null : `ended with status ${status ?? 'none'}`,
    runEnds === 1 ? null : `has ${runEnds} events that end it`,
    fault('stored events', storedNumbers, storedNumbers.length),
    // The end itself comes without a number.
    fault('events at its subscriber', seenNumbers, storedNumbers.length - 1),
    seenEnd ? null : "the subscriber's stream did not end",
    ...turnFaults(evidence),
    ...evidence.effects.map(effectFault),
  ];
  return faults.filter((text) => text !== null).map((text) => `${evidence.tag}: ${text}`);
}

function fault(what: string, numbers: readonly number[], count: number): string | null {
  const place = numbers.findIndex((number, index) => number !== index);
  if (place >= 0) return `${what}: number ${numbers[place]} where ${place} was due`;
  return numbers.length === count ? null : `${what}: ${numbers.length} of ${count}`;
}

function turnFaults({ turns, committedAt, askedAt }: RunEvidence): string[] {
  const faults = committedAt.length === turns ? [] : [`${committedAt.length} replies were stored, of ${turns}`];
  committedAt.forEach((committed, index) => {
    const asked = askedAt[index] ?? [];
    if (asked.length === 0) faults.push(`turn ${index + 1} has a reply that nobody asked for`);
    if (asked.some((at) => at > committed)) {
      faults.push(`turn ${index + 1} was asked for again when its reply was committed`);
    }
  });
  return faults;
}

function effectFault({ turn, count, unknown }: Effect): string | null {
  if (count > 1) return `the effect of turn ${turn} happened ${count} times`;
  if (count === 0 && !unknown) return `the effect of turn ${turn} did not happen, and the model was told that it did`;
  return null;
}
