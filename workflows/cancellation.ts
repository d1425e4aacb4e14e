import { CancellationScope, CancelledFailure, defineSignal, setHandler } from '@temporalio/workflow';
import type { CancelAction } from '../contracts';
import { CANCEL_RUN_SIGNAL } from '../contracts';

export const cancelRunSignal = defineSignal<[CancelAction]>(CANCEL_RUN_SIGNAL);

export interface CancelWatch {
  scope: CancellationScope;
  /** The first action asked for; later ones do not change it. */
  readonly action: CancelAction | null;
}

/** Cancels a scope when the user asks to stop the run. */
export function watchForCancel(): CancelWatch {
  const watch: { scope: CancellationScope; action: CancelAction | null } = {
    scope: new CancellationScope(),
    action: null,
  };
  setHandler(cancelRunSignal, (action) => {
    watch.action ??= action;
    watch.scope.cancel();
  });
  return watch;
}

/**
 * Runs a local activity to its end although a Stop comes meanwhile. Such steps are short; and a local activity that is
 * cancelled after a heartbeat of its workflow task has been seen to break the replay of the workflow. A Stop that came
 * before is heeded: then the step is not begun.
 */
export function undisturbed<T>(step: () => Promise<T>): Promise<T> {
  if (CancellationScope.current().consideredCancelled) {
    return Promise.reject(new CancelledFailure('The run was stopped before this step.'));
  }
  return CancellationScope.nonCancellable(step);
}
