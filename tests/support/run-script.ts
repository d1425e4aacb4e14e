/** Plays the worker's part of a run: writes what activities write, step by step, through the real stores. */
import { randomUUID } from 'node:crypto';
import type { JsonObject, Message, RunError, RunEventInput, RunStatus } from '../../contracts';
import type { Stores } from '../../db';
import { ROLLED_BACK_ERROR } from '../../core/run-status';
import { selectEvents } from '../../core/stream-events';
import { aiMessage, humanMessage } from './run-fixtures';

export interface RunScript {
  runId: string;
  threadId: string;
  /** The run's input is in the log. */
  begin(question?: string): Promise<string>;
  /** Parts of a reply reach readers. */
  stream(messageId: string, ...parts: string[]): Promise<void>;
  /** A whole reply is committed; gives back its id. */
  reply(text: string, options?: { id?: string; message?: Partial<Message> }): Promise<string>;
  emit(...events: RunEventInput[]): Promise<void>;
  /** The run stops before a node and the thread waits. */
  stopBefore(node: string): Promise<void>;
  finish(status?: RunStatus, error?: RunError): Promise<void>;
  rollBack(): Promise<void>;
}

export async function scriptRun(stores: Stores, runId: string): Promise<RunScript> {
  const row = await stores.runs.load(runId);
  if (row === null) throw new Error(`There is no run ${runId}.`);
  const { threadId, options } = row;
  const select = (events: RunEventInput[]): RunEventInput[] => selectEvents(options.streamModes, events);
  let step = (await stores.log.head(threadId))?.step ?? -1;

  const end = (ending: {
    status: RunStatus;
    error: RunError | null;
    rollback: boolean;
    waiting?: string;
  }): Promise<unknown> =>
    stores.runs.end(runId, () => ({
      status: ending.status,
      error: ending.error,
      stopReason: null,
      rollback: ending.rollback,
      threadStatus: ending.waiting === undefined ? 'idle' : 'interrupted',
      commit: {
        checkpoint: {
          step: ++step,
          source: 'loop',
          node: '__end__',
          next: ending.waiting === undefined ? [] : [ending.waiting],
          interrupts: ending.waiting === undefined ? [] : [interrupt(ending.waiting)],
        },
        events: select([
          {
            kind: 'state',
            payload: ending.waiting === undefined ? {} : { interrupts: [interrupt(ending.waiting)] },
          },
          ...(ending.error === null
            ? []
            : [{ kind: 'run-error' as const, payload: { name: ending.error.name, message: ending.error.message } }]),
          { kind: 'run-end', payload: {} },
        ]),
      },
    }));

  return {
    runId,
    threadId,
    async begin(question = 'hello') {
      const message = humanMessage(question);
      await stores.runs.begin(
        runId,
        {
          threadId,
          messages: [message],
          journal: [
            { eventType: 'run.start', category: 'trace', content: { chain: 'lead_agent' } },
            {
              eventType: 'llm.human.input',
              category: 'message',
              messageId: message.id,
              metadata: { caller: 'lead_agent' },
            },
          ],
          checkpoint: { step: ++step, source: 'input', node: '__start__', next: ['model'] },
          events: select([
            { kind: 'message', payload: { node: '__start__', step }, messageId: message.id },
            { kind: 'state', payload: {} },
          ]),
        },
        { modelName: 'demo', configHash: null },
      );
      return message.id;
    },
    async stream(messageId, ...parts) {
      for (const content of parts) {
        const payload: JsonObject = { id: messageId, step, content, tool_call_chunks: [], additional_kwargs: {} };
        await stores.events.append(runId, select([{ kind: 'text-delta', payload }]));
      }
    },
    async reply(text, { id = randomUUID(), message = {} } = {}) {
      await stores.log.commit({
        threadId,
        runId,
        messages: [{ ...aiMessage(text, id), ...message } as Message],
        journal: [
          { eventType: 'llm.ai.response', category: 'message', messageId: id, metadata: { caller: 'lead_agent' } },
        ],
        usage: { calls: 1, input: 10, output: 5, total: 15 },
        checkpoint: { step: ++step, source: 'loop', node: 'model', next: [] },
        events: select([
          { kind: 'update', payload: { node: 'model', writes: {} }, messageId: id },
          { kind: 'state', payload: {} },
          { kind: 'checkpoint', payload: { step } },
        ]),
      });
      return id;
    },
    async emit(...events) {
      await stores.events.append(runId, select(events));
    },
    async stopBefore(node) {
      await end({ status: 'interrupted', error: null, rollback: false, waiting: node });
    },
    async finish(status = 'success', error) {
      await end({ status, error: error ?? null, rollback: false });
    },
    async rollBack() {
      await end({ status: 'error', error: ROLLED_BACK_ERROR, rollback: true });
    },
  };
}

function interrupt(node: string): JsonObject {
  return { id: `stop-${node}`, value: { type: 'breakpoint', node } };
}
