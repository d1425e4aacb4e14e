import { createHash, randomUUID } from 'node:crypto';
import type { JsonObject, RunOptions, StreamMode } from '../../contracts';
import { AppError } from '../../contracts';
import type { RunCreateRequest } from '../../contracts/schemas/run-request';
import { listPublicModels } from '../../config';
import { coerceInputMessages } from '../../core/input-messages';
import { fitWish, reasoningContract, runWish } from '../../core/reasoning';
import { MESSAGES_CHANNEL, isWritableChannel } from '../../core/state-channels';
import type { AdmissionRequest, RunRow } from '../../db';
import type { ApiDependencies } from '../dependencies';
import { assistantName } from './assistant-name';
import { requestedCheckpoint } from './requested-checkpoint';
import { checkReferences } from './conversation-references';
import { eventually } from './background';
import { configurableOf } from './parse-run-request';
import { checkKnowledgeScope } from './knowledge-scope';
import { requestSecrets, requestedModels, runContext } from './run-context';
import { withoutSecrets } from './without-secrets';

export interface RunToAdmit {
  owner: string;
  threadId: string;
  request: RunCreateRequest;
  /** Whether a thread that is not there is made. */
  createThread: boolean;
  idempotencyKey?: string;
}

export interface AdmittedRun {
  row: RunRow;
  /** False where an idempotency key named a run that is there already. */
  created: boolean;
  /** Done when Temporal knows of the run, or when waiting for that would take too long. */
  started: Promise<void>;
}

/**
 * Checks a request for a run, stores the run and starts its workflow. Everything that can be refused is refused before
 * anything is stored; what is stored will run, even if this process ends on the next line.
 */
export async function admitRun(deps: ApiDependencies, input: RunToAdmit): Promise<AdmittedRun> {
  const { owner, threadId, request } = input;
  const assistantId = assistantName(request.assistant_id);
  const references = checkReferences(deps.config(), request);
  if (!input.createThread && (await deps.stores.threads.get(owner, threadId)) === null) {
    throw new AppError('thread_not_found', `Thread ${threadId} not found`);
  }
  checkModels(deps, request);
  checkReasoning(deps, request);
  const options = await runOptions(deps, threadId, request);
  const secrets = requestSecrets(request);
  const runId = randomUUID();
  const admission: AdmissionRequest = {
    runId,
    threadId,
    owner,
    assistantId,
    metadata: request.metadata,
    kwargs: {
      input: request.input ?? null,
      config: Object.keys(request.config).length === 0 ? null : withoutSecrets(request.config),
    },
    options,
    strategy: request.multitask_strategy,
    onDisconnect: request.on_disconnect ?? deps.config().runs.on_disconnect_default,
    createThread: input.createThread,
    afterSeconds: request.after_seconds ?? 0,
    ...(Object.keys(secrets).length === 0 ? {} : { sealedSecrets: deps.stores.secrets.seal(runId, secrets) }),
    ...supersededRun(request),
    ...(input.idempotencyKey === undefined
      ? {}
      : { idempotency: { key: input.idempotencyKey, requestHash: requestHash(request, references) } }),
  };
  const { row, created, cancelled } = await deps.stores.runs.admit(admission);
  return { row, created, started: launch(deps, row, created, cancelled) };
}

async function launch(deps: ApiDependencies, row: RunRow, created: boolean, cancelled: RunRow[]): Promise<void> {
  const { gateway, log, stores } = deps;
  const calls: Array<Promise<void>> = [];
  if (created && row.admission === 'active') {
    const start = async (): Promise<void> => {
      await gateway.start(row);
      // The beginning of a run marks it too; one that waits for its time must not be started again and again.
      if (Date.parse(row.availableAt) > Date.now()) await stores.runs.markWorkflowStarted(row.runId);
    };
    calls.push(eventually(start, { log, what: `starting run ${row.runId}` }));
  }
  for (const run of cancelled) {
    const { runId, cancelAction } = run;
    if (cancelAction === null) continue;
    calls.push(eventually(() => gateway.cancel(run, cancelAction), { log, what: `cancelling run ${runId}` }));
  }
  await Promise.all(calls);
}

function checkModels(deps: ApiDependencies, request: RunCreateRequest): void {
  const allowed = new Set(listPublicModels(deps.config()).map((model) => model.name));
  for (const name of requestedModels(request)) {
    if (typeof name !== 'string' || !allowed.has(name)) {
      const shown = typeof name === 'string' ? name : JSON.stringify(name);
      throw new AppError('model_not_allowed', `Model '${shown}' is not in the configured model allowlist`);
    }
  }
}

/** Refuses what the model of the run would refuse at its beginning. */
function checkReasoning(deps: ApiDependencies, request: RunCreateRequest): void {
  const { models } = deps.config();
  const context = runContext(request);
  const entry = models.find(({ name }) => name === context.model_name) ?? models[0];
  if (entry !== undefined) fitWish(entry.name, reasoningContract(entry), runWish(context));
}

async function runOptions(deps: ApiDependencies, threadId: string, request: RunCreateRequest): Promise<RunOptions> {
  const checkpointId = await requestedCheckpoint(deps, threadId, request);
  const recursionLimit = recursionLimitOf(request.config, deps.config().max_recursion_limit);
  const resume = request.command?.['resume'];
  return {
    ...runInput(request),
    ...(resume === undefined || resume === null ? {} : { resume: { value: resume } }),
    context: runContext(request),
    streamModes: streamModesOf(request),
    interruptBefore: request.interrupt_before ?? [],
    interruptAfter: request.interrupt_after ?? [],
    ...(checkpointId === null ? {} : { checkpointId }),
    ...(recursionLimit === null ? {} : { recursionLimit }),
    ...(request.webhook === undefined || request.webhook === null ? {} : { webhook: request.webhook }),
  };
}

/** The input as a run takes it: messages in the form that is stored, and the channels that a client may set. */
function runInput({ input }: RunCreateRequest): Pick<RunOptions, 'hasInput' | 'messages' | 'channels'> {
  if (input === undefined || input === null) return { hasInput: false, messages: [], channels: {} };
  const messages = coerceInputMessages(input[MESSAGES_CHANNEL], { newId: randomUUID });
  checkKnowledgeScope(messages);
  const channels = Object.fromEntries(Object.entries(input).filter(([name]) => isWritableChannel(name)));
  return { hasInput: true, messages, channels };
}

export function streamModesOf({ stream_mode: asked }: RunCreateRequest): StreamMode[] {
  const modes = [...new Set([asked ?? []].flat())];
  return modes.length === 0 ? ['values'] : modes;
}

/** A regenerated turn replaces the run that `regenerate/prepare` named: its messages leave the conversation's pages. */
function supersededRun({ metadata }: RunCreateRequest): Pick<AdmissionRequest, 'supersedes'> {
  const runId = metadata['regenerate_from_run_id'];
  return typeof runId === 'string' ? { supersedes: runId } : {};
}

/** Null where the request names none that counts: the configuration's limit holds then. */
function recursionLimitOf(config: JsonObject, max: number): number | null {
  const limit = config['recursion_limit'] ?? null;
  return typeof limit === 'number' && Number.isInteger(limit) && limit > 0 ? Math.min(limit, max) : null;
}

/** Of two requests with one key, these parts must be equal. */
function requestHash(request: RunCreateRequest, references: string[]): string {
  const parts = [request.input ?? null, request.assistant_id ?? null, references];
  return createHash('sha256').update(canonical(parts)).digest('hex');
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([left], [right]) => (left < right ? -1 : 1)))
      : item,
  );
}

/** The thread of a request that names none in its path. */
export function statelessThread(request: RunCreateRequest): { threadId: string; createThread: boolean } {
  const given = configurableOf(request)['thread_id'];
  const threadId = typeof given === 'string' ? given : randomUUID();
  return { threadId, createThread: request.if_not_exists !== 'reject' };
}
