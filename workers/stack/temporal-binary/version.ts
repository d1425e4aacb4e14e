/** Asking an executable whether it is a Temporal CLI with a server that is new enough. */
import { isExecutable, runToEnd } from '../executables';
import { temporalEnvironment } from './environment';
import { MINIMUM_SERVER } from './pinned';

export type Verdict = { usable: true; serverVersion: string } | { usable: false; reason: string };

export async function judgeExecutable(path: string, signal?: AbortSignal): Promise<Verdict> {
  if (!isExecutable(path)) return { usable: false, reason: 'is not an executable file' };
  const result = await runToEnd(path, ['--version'], {
    timeoutMs: 20_000,
    env: temporalEnvironment(process.env),
    signal,
  });
  if (!result.succeeded) return { usable: false, reason: `does not run: ${result.complaint}` };
  const serverVersion = /\(Server (\d+\.\d+\.\d+)/i.exec(result.stdout)?.[1];
  if (serverVersion === undefined) return { usable: false, reason: 'does not say which server it contains' };
  if (compareVersions(serverVersion, MINIMUM_SERVER) < 0) {
    return { usable: false, reason: `contains server ${serverVersion}; ${MINIMUM_SERVER} or newer is needed` };
  }
  return { usable: true, serverVersion };
}

/** Negative where the first is older. */
export function compareVersions(first: string, second: string): number {
  const [left, right] = [first, second].map((version) => version.split('.').map(Number));
  for (let index = 0; index < 3; index += 1) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
