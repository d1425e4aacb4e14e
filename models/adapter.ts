/** How a value of `use` in `models[]` becomes a chat model. Each provider has a folder of its own with its adapters. */
import type { ModelConfig } from '../contracts/schemas/config';
import type { ChatModel } from './chat-model';

/** What of an entry is not as its owner may think. */
export interface ModelLog {
  warn(details: { model?: string | null } & Record<string, unknown>, text: string): void;
}

export interface AdapterOptions {
  /** The entry with what is wanted of the model's reasoning already worked into it. */
  entry: ModelConfig;
  /** Where the entry is in the configuration, for error texts: `models[0]`. */
  key: string;
  /** Silence of the provider after which an attempt counts as stalled, in milliseconds. */
  stallTimeoutMs: number;
  /** Variables of the process, for adapters that look for a login there. */
  env: Readonly<Record<string, string | undefined>>;
  log: ModelLog;
}

export interface ModelAdapter {
  /** Values of `use`, as DeerFlow writes them: `package.module:Class`. */
  uses: readonly string[];
  /** Throws `AppError('configuration')` where the entry cannot be used. Connects to nothing. */
  create(options: AdapterOptions): ChatModel;
}
