/** Recognises replies that the provider's safety filter stopped. Pure; what follows from it is decided elsewhere. */
import type { ModelReply } from './chat-model';

export interface SafetyTermination {
  detector: 'openai_compatible_content_filter';
  reasonField: 'finish_reason';
  reasonValue: string;
}

/** Null for an ordinary reply. */
export function detectSafetyTermination(reply: Pick<ModelReply, 'finishReason'>): SafetyTermination | null {
  if (reply.finishReason !== 'content_filter') return null;
  return {
    detector: 'openai_compatible_content_filter',
    reasonField: 'finish_reason',
    reasonValue: reply.finishReason,
  };
}
