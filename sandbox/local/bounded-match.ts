/**
 * Runs pattern matching with a time limit. A regular expression can take practically for ever, and neither a signal
 * nor a timer ends it while it holds the event loop; a script context with a limit does.
 */
import { Script, createContext } from 'node:vm';
import { AppError } from '../../contracts';
import { errorCode } from '../file-errors';

const LIMIT_MS = 500;

export interface BoundedMatcher {
  run<T>(match: () => T): T;
}

export function createBoundedMatcher(limitMs: number = LIMIT_MS): BoundedMatcher {
  const script = new Script('match()');
  const context: { match: (() => unknown) | null } = { match: null };
  createContext(context);
  return {
    run<T>(match: () => T): T {
      let result: { value: T } | undefined;
      context.match = () => {
        result = { value: match() };
      };
      try {
        script.runInContext(context, { timeout: limitMs });
      } catch (error) {
        if (errorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
          throw new AppError('bad_request', 'The pattern takes too long to match; use a simpler one', { cause: error });
        }
        throw error;
      } finally {
        context.match = null;
      }
      if (!result) throw new AppError('internal', 'Pattern matching gave no result');
      return result.value;
    },
  };
}
