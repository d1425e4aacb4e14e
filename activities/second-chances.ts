/** What a model is asked once more, in other words, when it could not answer. */
import { compactRequest } from '../core/prompt/compact-request';
import { RECOVERED_MARK, recoveryNote } from '../core/reply-policies';
import type { ModelReply, ModelRequest, RetryNotice } from '../models';
import { failureDetail } from '../models';

export type RequestParts = Pick<ModelRequest, 'system' | 'messages' | 'tools'>;
export type Ask = (parts: RequestParts) => Promise<ModelReply>;

const TOO_LONG: RetryNotice = {
  type: 'llm_retry',
  attempt: 1,
  max_attempts: 2,
  wait_ms: 0,
  reason: 'context_length',
  message: 'The conversation is longer than the model can read. It is asked again without the older part.',
};

/** A model that could not read the whole conversation is asked once more with its newest part. */
export function compacting(ask: Ask, tell: (notice: RetryNotice) => Promise<void>): Ask {
  return async (whole) => {
    try {
      return await ask(whole);
    } catch (error) {
      const messages = failureDetail(error)?.reason === 'context_length' ? compactRequest(whole.messages) : null;
      if (messages === null) throw error;
      await tell(TOO_LONG);
      return ask({ ...whole, messages });
    }
  };
}

export function isSilence(error: unknown): boolean {
  return failureDetail(error)?.reason === 'empty';
}

/** A model that says nothing to the results of its tools is told to; its reply is marked, so that a run does so once. */
export function insisting(ask: Ask): Ask {
  return async (parts) => {
    try {
      return await ask(parts);
    } catch (error) {
      if (!isSilence(error)) throw error;
      const reply = await ask({ ...parts, messages: [...parts.messages, recoveryNote()] });
      return { ...reply, additionalKwargs: { ...reply.additionalKwargs, [RECOVERED_MARK]: true } };
    }
  };
}
