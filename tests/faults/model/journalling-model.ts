/** The scripted model of the fault suite: it answers by plan and writes down every question in a journal. */
import { appendFileSync } from 'node:fs';
import type { WireRequest } from '../../../models/demo/completion-wire';
import { startFakeModel } from '../../support/fake-model';
import type { Step } from '../../support/fake-model';
import type { ModelJournalLine } from '../checker/evidence';
import { answerTo } from './plans';

export interface JournallingModel {
  port: number;
  close(): Promise<void>;
}

export async function startJournallingModel(journal: string): Promise<JournallingModel> {
  const attempts = new Map<string, number>();
  let questions = 0;
  const note = (line: ModelJournalLine): void => appendFileSync(journal, `${JSON.stringify(line)}\n`);
  appendFileSync(journal, '');

  function onAsked(request: WireRequest) {
    const asked = answerTo(request);
    if (asked === null) return undefined;
    const { key, turn, unknownOutcomes } = asked;
    const attempt = (attempts.get(`${key} ${turn}`) ?? 0) + 1;
    attempts.set(`${key} ${turn}`, attempt);
    questions += 1;
    const id = `q${questions}`;
    note({ type: 'asked', at: Date.now(), id, key, turn, attempt, unknownOutcomes });
    return ({ step, bytes }: { step: Step; bytes: number }) =>
      note({ type: 'answered', at: Date.now(), id, bytes, totalTokens: tokensOf(step) });
  }

  const fake = await startFakeModel({ record: false, answer: (request) => answerTo(request)?.step ?? null, onAsked });
  return { port: Number(new URL(fake.baseUrl).port), close: () => fake.close() };
}

function tokensOf(step: Step): number {
  if (step.kind === 'hang') return tokensOf(step.next);
  return step.kind === 'reply' ? step.usage.input + step.usage.output : 0;
}
