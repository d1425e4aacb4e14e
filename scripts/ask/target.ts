/** Which API is asked: a named one, the one of the stack that runs on the home, or one started for the question. */
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../../config';
import { AppError } from '../../contracts';
import { runningStack } from '../../workers/stack/home-lock';
import { parseStackOptions } from '../../workers/stack/options';
import type { Progress } from '../../workers/stack/progress';
import { startStack, type EntryPoints } from '../../workers/stack/stack';
import { createGateway, type Gateway } from './gateway';
import type { AskOptions } from './options';

export interface Target {
  gateway: Gateway;
  /** Whether the stack ends with the question. */
  temporary: boolean;
  close(): Promise<void>;
}

export interface TargetContext {
  env: NodeJS.ProcessEnv;
  cwd: string;
  progress: Progress;
  signal: AbortSignal;
  entryPoints?: EntryPoints;
}

const START_LIMIT_MS = 120_000;

export async function openTarget(options: AskOptions, context: TargetContext): Promise<Target> {
  if (options.url !== undefined) return existing(options.url, context.signal);
  const stackOptions = parseStackOptions({ argv: options.stackFlags, env: context.env, cwd: context.cwd });
  const url = await addressOfRunning(stackOptions.home, context.signal);
  if (url !== undefined) return existing(url, context.signal);

  loadConfig({ env: stackOptions.env, cwd: context.cwd });
  context.progress.step('No stack runs on this home: one is started for this question.');
  const { progress, signal, entryPoints } = context;
  const stack = await startStack({ options: stackOptions, progress, signal, entryPoints });
  return { gateway: createGateway(stack.addresses.apiUrl), temporary: true, close: () => stack.stop('drain') };
}

async function existing(url: string, signal: AbortSignal): Promise<Target> {
  const gateway = createGateway(url);
  if (!(await gateway.isUp(signal))) throw new AppError('unavailable', `Nothing answers at ${url}.`);
  return { gateway, temporary: false, close: async () => undefined };
}

/** Waits for a stack that is just starting. */
async function addressOfRunning(home: string, signal: AbortSignal): Promise<string | undefined> {
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    const state = runningStack(home);
    if (!state || state.addresses) return state?.addresses?.apiUrl;
    if (Date.now() > deadline) throw new AppError('unavailable', 'The stack on this home does not finish its start.');
    await delay(200, undefined, { signal });
  }
}
