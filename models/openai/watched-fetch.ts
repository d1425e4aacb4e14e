/**
 * A `fetch` that knows what the client library hides: whether bytes still arrive, and whether the stream was ended in
 * order. It also turns the answers of servers that ignore `stream: true` into a stream.
 */
import type { AppError } from '../../contracts';
import type { Attempt } from '../attempt';
import type { ProviderProblem } from '../failure';
import { connectionFailure, providerFailure } from '../failure';
import { problemFromBody, sdkFailure } from '../sdk-failure';

export interface StreamWatch {
  /** The server sent the end mark of the stream. */
  ended: boolean;
  /** An error that came with status 200, or a body that was cut. */
  problem: ProviderProblem | 'cut' | null;
}

export interface WatchedFetchOptions {
  watch: StreamWatch;
  /** Ends the attempt when a wait for the server takes too long. */
  wait: Attempt['wait'];
  /** Whether the reply comes in one piece and stays so. */
  whole?: boolean;
  /** The events that would have brought an answer which came in one piece. Those of chat completions unless given. */
  toEvents?: (answer: Answer) => object[];
  fetchImplementation: typeof fetch;
}

type Answer = Record<string, unknown>;

const END_MARK = '[DONE]';

export function createWatchedFetch(options: WatchedFetchOptions): typeof fetch {
  const { watch, wait, whole = false, toEvents = toChunks, fetchImplementation } = options;
  return async (input, init) => {
    const response = await wait(fetchImplementation(input, init));
    if (response.body === null) return response;
    const body = watchedBody(response.body, watch, wait);
    const copy = new Response(body, {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
    const isJson = /\bjson\b/i.test(response.headers.get('content-type') ?? '');
    if (!response.ok || !(isJson || whole)) return copy;
    const answer = await readAnswer(copy, watch);
    return whole ? Response.json(withChoices(answer)) : streamOf(toEvents(answer));
  };
}

/** Reads only when asked to, so the clock stands still while our own reader is busy. */
function watchedBody(
  body: ReadableStream<Uint8Array>,
  watch: StreamWatch,
  wait: Attempt['wait'],
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let tail = '';
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await wait(reader.read());
        if (done) return controller.close();
        tail = (tail + Buffer.from(value).toString('latin1')).slice(-4096 - value.byteLength);
        if (tail.includes(END_MARK)) watch.ended = true;
        tail = tail.slice(-END_MARK.length);
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** A whole JSON answer; an error in it is put aside for the classification. */
async function readAnswer(response: Response, watch: StreamWatch): Promise<Answer> {
  const answer = parseObject(await response.text());
  if (answer === null) {
    watch.problem = 'cut';
    throw new Error('the body was cut');
  }
  if (answer.error !== undefined && answer.error !== null) {
    watch.problem = problemFromBody(answer.error, response.headers);
    throw new Error('the body holds an error');
  }
  watch.ended = true;
  return answer;
}

interface WithChoices extends Answer {
  choices: Answer[];
}

function withChoices(answer: Answer): WithChoices {
  return { ...answer, choices: (Array.isArray(answer.choices) ? answer.choices : []) as Answer[] };
}

function toChunks(answer: Answer): object[] {
  const choices = withChoices(answer).choices.map(({ message, ...rest }) => ({ ...rest, delta: message ?? {} }));
  return [{ ...answer, choices }];
}

function streamOf(events: readonly object[]): Response {
  const lines = [...events.map((event) => JSON.stringify(event)), END_MARK];
  return new Response(lines.map((line) => `data: ${line}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });
}

/** What an attempt failed of: what was seen on the way says more than what the library made of it. */
export function classifyFailure(failure: unknown, { problem }: StreamWatch, secrets: readonly string[]): AppError {
  if (problem === 'cut') return connectionFailure('The answer of the model provider was cut off');
  return problem === null ? sdkFailure(failure, secrets) : providerFailure(problem, secrets);
}

function parseObject(text: string): Answer | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
