/** One product for the tests of a file, and the few sentences that these tests are made of. */
import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue, RunRecord } from '../../../contracts';
import type { FakeModel, Step } from '../../support/fake-model';
import type { ApiClient, Frame, Product, ProductOptions, ThreadValues } from '../../support/product';
import { ask, createApiClient, startProduct } from '../../support/product';
import { expectSoundRun } from '../../support/product/invariants';

export interface Scenario {
  readonly product: Product;
  readonly model: FakeModel;
  readonly api: ApiClient;
  /** Sets what the model answers next, whatever was left of an earlier script. */
  script(...steps: Step[]): void;
  /** Starts a run in the background. */
  start(threadId: string, text: string, extra?: JsonObject): Promise<RunRecord>;
  /** Starts a run and waits until it has ended; what must hold for every run is checked. */
  run(threadId: string, text: string, extra?: JsonObject): Promise<RunRecord>;
  /** Starts a run and reads its stream to the end. */
  stream(threadId: string, text: string, extra?: JsonObject): ReturnType<ApiClient['stream']>;
  get<T = JsonValue>(path: string): Promise<T>;
}

/** Starts the product before the tests of the file and stops it after them. Each test begins with an empty record. */
export function useProduct(options: ProductOptions = {}): Scenario {
  let product: Product | undefined;
  const started = (): Product => {
    if (product === undefined) throw new Error('the product has not started');
    return product;
  };
  const api = createApiClient(() => started().url);
  beforeAll(async () => {
    product = await startProduct(options);
  });
  afterAll(() => product?.close());
  beforeEach(() => forget(started().model));

  const scenario: Scenario = {
    get product() {
      return started();
    },
    get model() {
      return started().model;
    },
    api,
    script: (...steps) => started().model.script('default', steps),
    async start(threadId, text, extra = {}) {
      const answer = await api.request<RunRecord>('POST', `/api/threads/${threadId}/runs`, ask(text, extra));
      if (answer.status !== 200) throw new Error(`no run was started: ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    async run(threadId, text, extra) {
      const { run_id: runId } = await scenario.start(threadId, text, extra);
      const ended = await api.ended(threadId, runId);
      await expectSoundRun(started().pool, runId);
      return ended;
    },
    stream: (threadId, text, extra) =>
      api.stream({ path: `/api/threads/${threadId}/runs/stream`, body: ask(text, extra) }),
    async get<T>(path: string) {
      const answer = await api.request<T>('GET', path);
      expect(answer.status).toBe(200);
      return answer.body;
    },
  };
  return scenario;
}

function forget(model: FakeModel): void {
  model.requests.length = 0;
  model.unexpected.length = 0;
  model.violations.length = 0;
}

export async function until(condition: () => boolean | Promise<boolean>, what: string, ms = 15_000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function unknownId(): string {
  return randomUUID();
}

/** The values that a reader of the stream has at its end. */
export function lastValues(frames: readonly Frame[]): ThreadValues {
  const frame = frames.findLast(({ event }) => event === 'values');
  if (frame === undefined) throw new Error('the stream has no values');
  return frame.data as unknown as ThreadValues;
}

export function lastText(values: ThreadValues): JsonValue {
  return values.messages.at(-1)?.content ?? null;
}

export function texts(values: ThreadValues): JsonValue[] {
  return values.messages.map((message) => message.content);
}

export function runIdOf(frames: readonly Frame[]): string {
  return (frames[0]?.data as { run_id?: string } | undefined)?.run_id ?? '';
}

export interface Chunk {
  id: string;
  type: string;
  content: string;
  additional_kwargs: JsonObject;
  tool_call_chunks?: JsonValue[];
}

/** What the frames of mode messages-tuple carry. */
export function chunks(frames: readonly Frame[]): Chunk[] {
  return frames.filter(({ event }) => event === 'messages').map(({ data }) => (data as unknown as [Chunk])[0]);
}
