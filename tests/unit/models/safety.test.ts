import { configSchema } from '../../../contracts/schemas/config';
import { detectSafetyTermination } from '../../../models';

const settings = (section: object = {}) => configSchema.parse({ safety_finish_reason: section }).safety_finish_reason;
const found = (finishReason: string | null, section: object = {}, responseMetadata = {}) =>
  detectSafetyTermination({ finishReason, responseMetadata }, settings(section));

describe('replies that a provider’s filter stopped', () => {
  test.each([
    ['content_filter', 'openai_compatible_content_filter', 'finish_reason'],
    ['refusal', 'anthropic_refusal', 'stop_reason'],
    ['SAFETY', 'gemini_safety', 'finish_reason'],
    ['IMAGE_RECITATION', 'gemini_safety', 'finish_reason'],
    ['prohibited_content', 'gemini_safety', 'finish_reason'],
  ])('are known by %s', (reason, detector, reasonField) => {
    expect(found(reason)).toEqual({ detector, reasonField, reasonValue: reason });
  });

  test.each(['stop', 'length', 'tool_calls', 'MAX_TOKENS', null])('are not those that ended with %j', (reason) =>
    expect(found(reason)).toBeNull(),
  );

  test('are known by the field of their provider', () => {
    expect(found('stop', {}, { stop_reason: 'refusal' })?.detector).toBe('anthropic_refusal');
  });

  test('are nobody’s matter where the section is switched off', () => {
    expect(found('content_filter', { enabled: false })).toBeNull();
  });
});

describe('configured detectors', () => {
  const CLASS = 'deerflow.agents.middlewares.safety_termination_detectors:OpenAICompatibleContentFilterDetector';

  test('replace the built-in ones, by their names or by the classes of DeerFlow', () => {
    expect(found('content_filter', { detectors: [{ use: 'gemini_safety' }] })).toBeNull();
    expect(found('SAFETY', { detectors: [{ use: 'gemini_safety' }] })?.detector).toBe('gemini_safety');
    expect(found('content_filter', { detectors: [{ use: CLASS }] })).not.toBeNull();
  });

  test('take the values of their own configuration', () => {
    const section = { detectors: [{ use: CLASS, config: { finish_reasons: ['content_filter', 'risk_control'] } }] };
    expect(found('risk_control', section)?.reasonValue).toBe('risk_control');
    const wrong = { detectors: [{ use: CLASS, config: { finish_reasons: 'risk_control' } }] };
    expect(() => found('risk_control', wrong)).toThrow(expect.objectContaining({ code: 'configuration' }));
  });

  test.each([[[]], [[{ use: 'acme.detectors:Mine' }]]])('that cannot be used are refused: %j', (detectors) => {
    expect(configSchema.safeParse({ safety_finish_reason: { detectors } }).success).toBe(false);
  });
});
