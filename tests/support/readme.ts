/** What a reader of README.md copies: the fenced blocks of a chapter, in their order. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findInstallation } from '../../workers/stack/project-root';

export interface FencedBlock {
  /** The word behind the fence, such as `sh`. */
  language: string;
  text: string;
}

/** Throws where there is no chapter with that heading. */
export function readmeBlocks(heading: string): FencedBlock[] {
  const text = readFileSync(join(findInstallation(), 'README.md'), 'utf8');
  const chapter = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  if (chapter === undefined) throw new Error(`README.md has no chapter "${heading}"`);
  return [...chapter.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', body = '']) => ({
    language,
    text: body,
  }));
}

/** The command lines of a block, without what is said about them. */
export function commandsIn({ text }: FencedBlock): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '');
}
