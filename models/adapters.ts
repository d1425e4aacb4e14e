/** All adapters. A new provider is one more line here and a folder beside this file. */
import type { ModelAdapter } from './adapter';
import { anthropicAdapters } from './anthropic';
import { googleAdapters } from './google';
import { codexAdapters } from './codex';
import { classAdapter } from './langchain';
import { mindIeAdapters } from './mindie';
import { ollamaAdapters } from './ollama';
import { openAiAdapters } from './openai';

export const ADAPTERS: readonly ModelAdapter[] = [
  ...openAiAdapters,
  ...codexAdapters,
  ...anthropicAdapters,
  ...googleAdapters,
  ...ollamaAdapters,
  ...mindIeAdapters,
  classAdapter,
];

export function findAdapter(use: string): ModelAdapter | undefined {
  return classAdapter.matches(use) ? classAdapter : ADAPTERS.find((adapter) => adapter.uses.includes(use));
}
