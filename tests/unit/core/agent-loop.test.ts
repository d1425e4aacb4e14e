import type { NextMove, RunProgress } from '../../../contracts';
import { stopsBetween } from '../../../core/agent-loop/breakpoints';
import { deliveryReceipt, effectiveOutcome, judge } from '../../../core/agent-loop/ending';
import { afterModel, afterTools, stepLimit, takeStep } from '../../../core/agent-loop/progress';
import { canBecome, isCancellable, isTerminal } from '../../../core/run-status';
import { RUN_STATUSES } from '../../../contracts';
import { runOptions } from '../../support/run-fixtures';

const delivered = { delivered: true, modelFailure: null };
const model: NextMove = { kind: 'model' };
const start: RunProgress = { turn: 1, stepsTaken: 0, stepLimit: 3, stopAfterTools: false, next: model };

describe('the step budget of a run', () => {
  test('one model call and one tool phase are one step each, and the limit is the last step allowed', () => {
    let progress = takeStep(start);
    progress = takeStep(afterModel(progress, { kind: 'tools', calls: [] }));
    progress = takeStep(afterTools(progress));
    expect(progress).toMatchObject({ turn: 2, stepsTaken: 3, next: model });
    progress = takeStep(afterModel(progress, { kind: 'tools', calls: [] }));
    expect(progress.next).toEqual({ kind: 'end', outcome: { kind: 'step_limit', limit: 3 } });
  });

  test('an answer within the limit ends the run in order, whatever is left', () => {
    const done: NextMove = { kind: 'end', outcome: { kind: 'success' } };
    expect(takeStep({ ...start, stepsTaken: 3, next: done }).next).toEqual(done);
  });

  test.each([
    [50, 50],
    [5000, 1000],
    [0, 100],
    [-1, 100],
    [true, 100],
    ['7', 100],
    [1.5, 100],
    [undefined, 100],
  ])('a wish of %p gives %p', (wish, limit) => expect(stepLimit(wish, 100, 1000)).toBe(limit));

  test('a default above the ceiling is lowered too', () => expect(stepLimit(undefined, 500, 200)).toBe(200));
});

describe('breakpoints', () => {
  test('a run stops before the tools when the request names them, and after the model when it names that', () => {
    expect(stopsBetween(runOptions({ interruptBefore: ['tools'] }), 'model', 'tools')).toBe(true);
    expect(stopsBetween(runOptions({ interruptAfter: ['model'] }), 'model', 'tools')).toBe(true);
    expect(stopsBetween(runOptions({ interruptBefore: '*' }), null, 'model')).toBe(true);
    expect(stopsBetween(runOptions({ interruptBefore: ['other'] }), 'model', 'tools')).toBe(false);
    expect(stopsBetween(runOptions(), 'tools', 'model')).toBe(false);
  });

  test('after a tool phase the run waits for the model when asked to', () => {
    expect(afterTools({ ...start, stopAfterTools: true }).next).toEqual({
      kind: 'end',
      outcome: { kind: 'breakpoint', next: ['model'] },
    });
  });
});

describe('how a run ends', () => {
  test('a cancel that was accepted first wins over a success', () => {
    expect(effectiveOutcome({ kind: 'success' }, 'interrupt')).toEqual({ kind: 'cancelled', action: 'interrupt' });
    expect(judge({ kind: 'cancelled', action: 'interrupt' }, delivered)).toMatchObject({
      status: 'interrupted',
      error: null,
    });
  });

  test('a rollback ends as an error that says so and takes the run back', () => {
    expect(judge({ kind: 'cancelled', action: 'rollback' }, delivered)).toMatchObject({
      status: 'error',
      rollback: true,
      error: { message: 'Rolled back by user' },
    });
  });

  test('a model failure names its reason on the record and has no error frame', () => {
    const verdict = judge({ kind: 'model_failed', code: 'model_unavailable' }, { ...delivered, modelFailure: 'down' });
    expect(verdict).toMatchObject({
      status: 'error',
      errorFrame: false,
      error: { code: 'model_unavailable', message: 'down' },
    });
  });

  test('the step limit ends as an error with a frame of its own', () => {
    expect(judge({ kind: 'step_limit', limit: 3 }, delivered)).toMatchObject({
      status: 'error',
      errorFrame: true,
      error: { name: 'GraphRecursionError' },
    });
  });

  test('an output that was never presented turns success into an error', () => {
    const delivery = { produced: ['/mnt/user-data/outputs/a.md'], presented: [], byTool: {} };
    const receipt = deliveryReceipt(delivery);
    expect(receipt).toMatchObject({ presented: 0, stage: 'not_started', satisfied: false });
    expect(judge({ kind: 'success' }, { ...delivered, delivered: false })).toMatchObject({
      status: 'error',
      errorFrame: false,
    });
  });

  test('presenting a folder delivers what is in it, presenting another file does not', () => {
    const produced = ['/mnt/user-data/outputs/site/index.html'];
    const receipt = (presented: string[]) => deliveryReceipt({ produced, presented, byTool: {} });
    expect(receipt(['/mnt/user-data/outputs/site'])).toMatchObject({ stage: 'presented', satisfied: true });
    expect(receipt(['/mnt/user-data/outputs/si'])).toMatchObject({ stage: 'mismatched', satisfied: false });
  });

  test('no terminal status ever becomes another', () => {
    for (const from of RUN_STATUSES.filter(isTerminal)) {
      for (const to of RUN_STATUSES) expect(canBecome(from, to)).toBe(false);
    }
    expect(RUN_STATUSES.filter(isCancellable)).toEqual(['pending', 'running', 'interrupted']);
  });
});
