/** Replies that a provider's safety filter stopped. */
import type { AiMessage } from '../../contracts';
import type { Config } from '../../contracts/schemas/config';

export interface SafetyStop {
  detector: string;
  reasonField: string;
  reasonValue: string;
}

interface Detector {
  /** Where the provider says it; for chat completions also the reply's own finish reason. */
  field: 'finish_reason' | 'stop_reason';
  values: readonly string[];
}

/** The built-in detectors, by the names that a configuration and events have for them. */
export const SAFETY_DETECTORS: Readonly<Record<string, Detector>> = {
  openai_compatible_content_filter: { field: 'finish_reason', values: ['content_filter'] },
  anthropic_refusal: { field: 'stop_reason', values: ['refusal'] },
  gemini_safety: {
    field: 'finish_reason',
    values: [
      'SAFETY',
      'BLOCKLIST',
      'PROHIBITED_CONTENT',
      'SPII',
      'RECITATION',
      'IMAGE_SAFETY',
      'IMAGE_PROHIBITED_CONTENT',
      'IMAGE_RECITATION',
    ],
  },
};

/** Null for an ordinary reply. */
export function detectSafetyStop(
  message: AiMessage,
  finishReason: string | null,
  { enabled, detectors }: Config['safety_finish_reason'],
): SafetyStop | null {
  if (!enabled) return null;
  const names =
    detectors === null ? Object.keys(SAFETY_DETECTORS) : detectors.map(({ use }) => safetyDetectorName(use) ?? '');
  for (const name of names) {
    const detector = SAFETY_DETECTORS[name];
    if (detector === undefined) continue;
    const said = message.response_metadata[detector.field];
    const value = typeof said === 'string' ? said : finishReason;
    if (value !== null && detector.values.includes(value)) {
      return { detector: name, reasonField: detector.field, reasonValue: value };
    }
  }
  return null;
}

/**
 * The detector that `use` means, by its name or as a class path of DeerFlow, which ends with
 * `OpenAICompatibleContentFilterDetector` and the like. Null where there is none.
 */
export function safetyDetectorName(use: string): string | null {
  const name = use.slice(use.lastIndexOf(':') + 1).replace(/Detector$/, '');
  const plain = (text: string) => text.replaceAll('_', '').toLowerCase();
  return Object.keys(SAFETY_DETECTORS).find((known) => plain(known) === plain(name)) ?? null;
}
