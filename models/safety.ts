/** Recognises replies that the provider's safety filter stopped. Pure; what follows from it is decided elsewhere. */
import { AppError } from '../contracts';
import type { Config } from '../contracts/schemas/config';
import type { ModelReply } from './chat-model';

type SafetySettings = Config['safety_finish_reason'];

export interface SafetyTermination {
  detector: string;
  reasonField: 'finish_reason' | 'stop_reason';
  reasonValue: string;
}

interface Detector {
  name: string;
  /** Name of the class, in configurations that were written for DeerFlow. */
  className: string;
  field: SafetyTermination['reasonField'];
  /** Key of the detector's `config` that replaces the values. */
  key: 'finish_reasons' | 'stop_reasons';
  values: readonly string[];
}

const DETECTORS: readonly Detector[] = [
  {
    name: 'openai_compatible_content_filter',
    className: 'OpenAICompatibleContentFilterDetector',
    field: 'finish_reason',
    key: 'finish_reasons',
    values: ['content_filter'],
  },
  {
    name: 'anthropic_refusal',
    className: 'AnthropicRefusalDetector',
    field: 'stop_reason',
    key: 'stop_reasons',
    values: ['refusal'],
  },
  {
    name: 'gemini_safety',
    className: 'GeminiSafetyDetector',
    field: 'finish_reason',
    key: 'finish_reasons',
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
];

/** Whether any provider says so of a reply that its filter stopped: such a reply may be empty. */
export function isSafetyReason(reason: string | null): boolean {
  return reason !== null && DETECTORS.some(({ values }) => includes(values, reason));
}

/**
 * Null for an ordinary reply.
 *
 * @throws AppError `configuration` where a detector is named that there is not.
 */
export function detectSafetyTermination(
  reply: Pick<ModelReply, 'finishReason' | 'responseMetadata'>,
  settings: SafetySettings,
): SafetyTermination | null {
  if (!settings.enabled) return null;
  for (const { name, field, values } of configuredDetectors(settings.detectors)) {
    const told = reply.responseMetadata[field] ?? reply.finishReason;
    if (typeof told === 'string' && includes(values, told)) {
      return { detector: name, reasonField: field, reasonValue: told };
    }
  }
  return null;
}

function configuredDetectors(entries: SafetySettings['detectors']): readonly Detector[] {
  if (entries === null) return DETECTORS;
  return entries.map(({ use, config }, index) => {
    const place = `config.yaml: safety_finish_reason.detectors[${index}]`;
    const detector = DETECTORS.find(({ name, className }) => use === name || use.endsWith(`:${className}`));
    if (detector === undefined) {
      throw new AppError(
        'configuration',
        `${place}.use: expected one of ${DETECTORS.map(({ name }) => name).join(', ')}`,
      );
    }
    const values = config[detector.key] ?? detector.values;
    if (!Array.isArray(values) || !values.every((value) => typeof value === 'string')) {
      throw new AppError('configuration', `${place}.config.${detector.key}: expected a list of texts`);
    }
    return { ...detector, values };
  });
}

/** Gateways in front of a provider write its words in letters of their own size. */
function includes(values: readonly string[], reason: string): boolean {
  return values.some((value) => value.toLowerCase() === reason.toLowerCase());
}
