/** Checks that it does not matter which instance is asked. They only use HTTP, as clients do. */
import { isAppError } from '../../../contracts';
import { createControl } from '../control';
import type { RunningInstances } from '../state-folder';
import { createChecker, type Checker } from './checker';
import { frontAnswers } from './front-check';
import { startHeldModel } from './held-model';
import type { CheckName } from './names';
import { cancelledAtOther, joinedAtOther } from './run-checks';
import { bothReady, modelSeenByOther, threadSeenByOther, uploadSeenByOther } from './sharing-checks';

/** Gives back what was seen, for the line of the check. Throws where it is not as it must be. */
type Check = (checker: Checker) => Promise<string>;

const CHECKS: Readonly<Record<CheckName, { promise: string; check: Check }>> = {
  ready: { promise: 'both instances are ready', check: bothReady },
  thread: { promise: 'a thread made at a is read at b', check: threadSeenByOther },
  upload: { promise: 'a file uploaded at a is read at b', check: uploadSeenByOther },
  model: { promise: 'a model saved at a is seen by b within a second', check: modelSeenByOther },
  run: { promise: 'a run of a is joined and resumed at b without a gap or a repetition', check: joinedAtOther },
  cancel: { promise: 'a run of a is cancelled at b', check: cancelledAtOther },
  front: { promise: 'the front asks every instance that runs, and holds no stream up', check: frontAnswers },
};

const NOT_BUILT = 'sign-in at one for both, and switching skills: not part of this version';

export interface CheckOptions {
  only: readonly CheckName[];
  say: (line: string) => void;
}

/** One line for each. True where none failed. */
export async function runChecks(running: RunningInstances, { only, say }: CheckOptions): Promise<boolean> {
  const model = await startHeldModel();
  const checker = createChecker({ urls: running.urls, control: createControl(running.control), model });
  let failures = 0;
  try {
    for (const [name, { promise, check }] of Object.entries(CHECKS)) {
      if (!only.some((wanted) => wanted === name)) continue;
      const failure = await check(checker).then(
        (seen) => void say(`ok      ${name}: ${promise} (${seen})`),
        (error: unknown) => reasonOf(error),
      );
      if (failure === undefined) continue;
      failures += 1;
      say(`FAILED  ${name}: ${promise}: ${failure}`);
    }
    await checker.forgetModel();
  } finally {
    await model.close();
  }
  say(`skipped ${NOT_BUILT}`);
  say(failures === 0 ? 'Nothing failed.' : `${failures} failed.`);
  return failures === 0;
}

function reasonOf(error: unknown): string {
  if (isAppError(error)) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'it took too long';
  // What fetch says itself is only that it failed.
  return error.cause instanceof Error ? error.cause.message : error.message;
}
