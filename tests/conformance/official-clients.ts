/** The official JavaScript clients as they are published, unmodified. */
import { Client as CurrentClient } from '@langchain/langgraph-sdk';
import { Client as EarlierClient } from 'langgraph-sdk-1-5';
import type { ThreadValues } from '../support/product';

export type Values = ThreadValues & Record<string, unknown>;
export type OfficialClient = CurrentClient<Values, Partial<Values>>;

export interface OfficialVersion {
  version: string;
  connect(url: string, headers?: Record<string, string>): OfficialClient;
}

/** No key of the host's environment may go into the requests, and a failure is to be seen at once. */
function config(url: string, headers: Record<string, string> = {}) {
  return { apiUrl: `${url}/api/langgraph`, apiKey: null, defaultHeaders: headers, callerOptions: { maxRetries: 0 } };
}

export const OFFICIAL_VERSIONS: OfficialVersion[] = [
  { version: '1.15.0', connect: (url, headers) => new CurrentClient(config(url, headers)) },
  {
    version: '1.5.3',
    // What both versions have takes and gives the same; their types differ only in what is new.
    connect: (url, headers) => new EarlierClient(config(url, headers)) as unknown as OfficialClient,
  },
];

export interface StreamPart {
  id?: string;
  event: string;
  data: unknown;
}

export async function collect(stream: AsyncIterable<StreamPart>): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

export function eventNames(parts: readonly StreamPart[]): Set<string> {
  return new Set(parts.map(({ event }) => event));
}

export function lastValues(parts: readonly StreamPart[]): Values {
  return parts.filter(({ event }) => event === 'values').at(-1)?.data as Values;
}

export function lastText(values: Pick<Values, 'messages'>): unknown {
  return values.messages.at(-1)?.content;
}

/** What a user says to the scripted model: what it is to do. */
export function human(text: string) {
  return { messages: [{ role: 'user', content: text }] };
}

/** The scripted model answers after some seconds; a run that asks it lasts long enough to be met while it runs. */
export const SLOW = human('PLAN:delay=4000');
export const QUICK = human('PLAN:tokens=2');
export const QUICK_ANSWER = 'done w1 w2';
export const ASSISTANT = 'lead_agent';
