/** LangChain's client of Anthropic, for servers that speak its wire and not all of it. */
import { ChatAnthropic } from '@langchain/anthropic';
import { providerFailure } from '../failure';
import { problemFromBody } from '../sdk-failure';

type Ask = ChatAnthropic['createStreamWithRetry'];
type EventStream = Awaited<ReturnType<Ask>>;

/** Takes streams whose tokens nobody counted: the client would break off the reply at its first event. */
export class ForgivingAnthropic extends ChatAnthropic {
  protected override async createStreamWithRetry(...parameters: Parameters<Ask>): Promise<EventStream> {
    const stream = await super.createStreamWithRetry(...parameters);
    const events = stream[Symbol.asyncIterator].bind(stream);
    Reflect.set(stream, Symbol.asyncIterator, () => counted(events()));
    return stream;
  }
}

type Event = EventStream extends AsyncIterable<infer Item> ? Item : never;

async function* counted(events: AsyncIterator<Event>): AsyncGenerator<Event> {
  for await (const event of { [Symbol.asyncIterator]: () => events }) {
    // Zero everywhere is read as "not counted".
    const none = { input_tokens: 0, output_tokens: 0 };
    if (event.type === 'message_start') Object.assign(event.message, { usage: event.message.usage ?? none });
    if (event.type === 'message_delta') Object.assign(event, { usage: event.usage ?? none });
    yield event;
  }
}

/** A `fetch` that reads errors which come with status 200: the client, which expects a stream, would see an empty one. */
export function createErrorHearingFetch(secrets: readonly string[]): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isJson = /\bjson\b/i.test(response.headers.get('content-type') ?? '');
    if (!response.ok || !isJson) return response;
    const text = await response.text();
    const error = errorIn(text);
    if (error !== null) throw providerFailure(problemFromBody(error, response.headers), secrets);
    const { status, statusText, headers } = response;
    return new Response(text, { status, statusText, headers });
  };
}

function errorIn(text: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null ? (Reflect.get(document, 'error') ?? null) : null;
  } catch {
    return null;
  }
}
