import type { RunEventInput, RunEventKind, StreamMode } from '../contracts';

/** The stream mode that asks for a kind of event; kinds without one are part of every stream. */
const MODE_OF_KIND: Partial<Record<RunEventKind, StreamMode>> = {
  state: 'values',
  'text-delta': 'messages-tuple',
  message: 'messages-tuple',
  update: 'updates',
  custom: 'custom',
  task: 'tasks',
  checkpoint: 'checkpoints',
  debug: 'debug',
};

export function wantsKind(modes: readonly StreamMode[], kind: RunEventKind): boolean {
  const mode = MODE_OF_KIND[kind];
  return mode === undefined || modes.includes(mode);
}

/** Only what the run's modes ask for is stored, so that its events are numbered as its readers see them. */
export function selectEvents(modes: readonly StreamMode[], events: readonly RunEventInput[]): RunEventInput[] {
  return events.filter((event) => wantsKind(modes, event.kind));
}

interface StepEvents {
  node: string;
  step: number;
  /** The step's message, if it has one. */
  messageId?: string;
  writes?: RunEventInput['payload'];
  interrupts?: RunEventInput['payload'][string];
}

/** What readers of every mode learn when a step is committed, in the order in which they may rely on it. */
export function stepEvents({ node, step, messageId, writes, interrupts }: StepEvents): RunEventInput[] {
  const reference = messageId === undefined ? {} : { messageId };
  const update = { node, writes: writes ?? {} };
  const stop: RunEventInput['payload'] = interrupts === undefined ? {} : { interrupts };
  return [
    { kind: 'update', payload: update, ...reference },
    { kind: 'task', payload: { id: `${step}:${node}`, name: node, step, error: null, interrupts: [] }, ...reference },
    { kind: 'debug', payload: { type: 'task_result', id: `${step}:${node}`, name: node, step }, ...reference },
    { kind: 'state', payload: { ...stop } },
    { kind: 'checkpoint', payload: { step } },
    { kind: 'debug', payload: { type: 'checkpoint', step } },
  ];
}

/** What `tasks` and `debug` readers learn when a step begins. */
export function stepStartEvents(node: string, step: number): RunEventInput[] {
  const id = `${step}:${node}`;
  return [
    { kind: 'task', payload: { id, name: node, step, triggers: [`branch:to:${node}`] } },
    { kind: 'debug', payload: { type: 'task', id, name: node, step, triggers: [`branch:to:${node}`] } },
  ];
}
