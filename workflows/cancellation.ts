import { CancellationScope, defineSignal, setHandler } from '@temporalio/workflow';
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
