/** The front hands on to whoever runs. */
import { AppError } from '../../../contracts';
import { UPSTREAM_HEADER } from '../front';
import { INSTANCES } from '../settings';
import { isEnd, readUntil, textOf, within, type Checker } from './checker';
import { ALL_WORDS } from './held-model';
import { hasFirstHalf } from './run-checks';

const REQUESTS = 8;

export async function frontAnswers(checker: Checker): Promise<string> {
  const { control, front } = checker;
  const parts = await control.status();
  const expected = INSTANCES.filter((name) => parts.some((part) => part.name === name && part.pid !== null));
  const answered: string[] = [];
  for (let request = 0; request < REQUESTS; request += 1) {
    const response = await fetch(`${front.url}/health`, { signal: within() });
    await response.arrayBuffer();
    if (!response.ok) throw wrong(`it answered ${response.status}`);
    answered.push(response.headers.get(UPSTREAM_HEADER) ?? 'nobody');
  }
  const seen = [...new Set(answered)].sort();
  if (seen.join() !== expected.join()) throw wrong(`${expected.join()} should have answered, and ${seen.join()} did`);
  // The model of the checks is registered at a: without a, only requests can be looked at.
  const streamed = expected.some((name) => name === 'a') ? await streams(checker) : 'no stream without a';
  return `answered by ${seen.join(' and ')}; ${streamed}`;
}

/** The first half must be there while the model still waits. */
async function streams({ front, model, startRun }: Checker): Promise<string> {
  const release = model.hold();
  try {
    const { response } = await startRun(front);
    let half = false;
    const frames = await readUntil(response, (frame, soFar) => {
      if (!half && hasFirstHalf(frame, soFar)) {
        half = true;
        release();
      }
      return isEnd(frame);
    });
    if (textOf(frames) !== ALL_WORDS) throw wrong(`the reply was "${ALL_WORDS}", and "${textOf(frames)}" came`);
    return `streamed by ${response.headers.get(UPSTREAM_HEADER)}`;
  } finally {
    release();
  }
}

function wrong(problem: string): AppError {
  return new AppError('unavailable', problem);
}
