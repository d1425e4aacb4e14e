import { readFile } from 'node:fs/promises';
import type { ModelJournalLine, ModelRequest, SideEffect } from '../evidence';

const PHASES: readonly string[] = ['begun', 'ended', 'done'] satisfies SideEffect['phase'][];

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').filter((line) => line !== '');
}

/** A line that a killed model had not finished is the last one and says nothing. */
function parseLine(line: string): ModelJournalLine[] {
  try {
    return [JSON.parse(line) as ModelJournalLine];
  } catch {
    return [];
  }
}

export async function collectModelRequests(file: string): Promise<ModelRequest[]> {
  const requests = new Map<string, ModelRequest>();
  for (const line of (await linesOf(file)).flatMap(parseLine)) {
    if (line.type === 'asked') {
      const { id, key, turn, attempt, unknownOutcomes, at } = line;
      requests.set(id, { id, key, turn, attempt, unknownOutcomes, askedAt: at, answeredAt: null, totalTokens: null });
      continue;
    }
    const request = requests.get(line.id);
    if (request === undefined) continue;
    request.answeredAt = line.at;
    request.totalTokens = line.totalTokens;
  }
  return [...requests.values()];
}

export async function collectEffects(files: readonly string[]): Promise<SideEffect[]> {
  const perFile = await Promise.all(
    files.map(async (file) =>
      (await linesOf(file)).flatMap((line): SideEffect[] => {
        const [token, phase] = line.split(' ');
        if (token === undefined || phase === undefined || !PHASES.includes(phase)) return [];
        return [{ token, phase: phase as SideEffect['phase'], file }];
      }),
    ),
  );
  return perFile.flat();
}
