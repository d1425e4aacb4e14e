/** All adapters. A new provider is one more line here and a folder beside this file. */
import type { ModelAdapter } from './adapter';
import { mindIeAdapters } from './mindie';
import { openAiAdapters } from './openai';

export const ADAPTERS: readonly ModelAdapter[] = [...openAiAdapters, ...mindIeAdapters];

export function findAdapter(use: string): ModelAdapter | undefined {
  return ADAPTERS.find((adapter) => adapter.uses.includes(use));
}
