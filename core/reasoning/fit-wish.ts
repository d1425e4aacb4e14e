/** Fits what is wanted of a model's reasoning to what the model can. The same for everybody who asks a model. */
import type { RunContext } from '../../contracts';
import { AppError } from '../../contracts';
import type { EffortContract, ReasoningContract } from './contract';

/** What the caller of a model asks for; null leaves it to the model. */
export interface ReasoningWish {
  /** `preferred`: on where the model can think; one that cannot is no adjustment, because nobody asked. */
  thinking: boolean | 'preferred' | null;
  effort: string | null;
}

/** How the wish had to be changed to fit the model. */
export type ReasoningAdjustment =
  'thinking_unsupported' | 'thinking_forced_on' | 'effort_unsupported' | 'effort_aliased' | 'effort_unsupported_value';

export interface FittedWish {
  /** Null: nothing is said about it. */
  thinking: boolean | null;
  effort: string | null;
  adjustments: ReasoningAdjustment[];
}

/** What providers take for an effort; anything else in a request is no effort at all. */
const EFFORT_WORD = /^[A-Za-z0-9_.-]{1,32}$/;

/** The wish of a run: it thinks where its model can, unless its request says otherwise. */
export function runWish(context: RunContext): ReasoningWish {
  return { thinking: context.thinking_enabled ?? 'preferred', effort: context.reasoning_effort ?? null };
}

/** @throws AppError `thinking_required` where the model always thinks and its entry says to refuse other wishes. */
export function fitWish(model: string, contract: ReasoningContract, wish: ReasoningWish): FittedWish {
  const thinking = fitThinking(model, contract, wish.thinking);
  const effort = fitEffort(contract.effort, wish.effort);
  return {
    thinking: thinking.value,
    effort: effort.value,
    adjustments: [thinking.adjustment, effort.adjustment].filter((adjustment) => adjustment !== null),
  };
}

interface Fitted<Value> {
  value: Value;
  adjustment: ReasoningAdjustment | null;
}

function fitThinking(
  model: string,
  contract: ReasoningContract,
  wanted: ReasoningWish['thinking'],
): Fitted<boolean | null> {
  switch (contract.thinking) {
    case 'unsupported':
      return {
        value: wanted === null ? null : false,
        adjustment: wanted === true ? 'thinking_unsupported' : null,
      };
    case 'required':
      if (wanted !== false) return { value: true, adjustment: null };
      if (contract.onDisableRequest === 'reject') {
        throw new AppError('thinking_required', `Model '${model}' always thinks; thinking cannot be turned off for it`);
      }
      return { value: true, adjustment: 'thinking_forced_on' };
    case 'optional':
      return { value: wanted === 'preferred' ? true : wanted, adjustment: null };
  }
}

function fitEffort(effort: EffortContract | null, wanted: string | null): Fitted<string | null> {
  if (effort === null) return { value: null, adjustment: wanted === null ? null : 'effort_unsupported' };
  if (wanted === null) return { value: effort.default, adjustment: null };
  const allowed = effort.strict ? effort.values.includes(wanted) : EFFORT_WORD.test(wanted);
  if (allowed) return { value: wanted, adjustment: null };
  const meant = Object.hasOwn(effort.aliases, wanted) ? effort.aliases[wanted] : undefined;
  if (meant !== undefined) return { value: meant, adjustment: 'effort_aliased' };
  return { value: effort.default, adjustment: 'effort_unsupported_value' };
}
