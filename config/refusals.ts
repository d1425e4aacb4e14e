/** What each section allows by itself, and this product or another section rules out. */
import type { Config } from '../contracts/schemas/config';
import { SAFETY_DETECTORS, safetyDetectorName } from '../core/reply-policies';
import { configError } from './config-error';
import type { ConfigSource } from './config-error';

/** @throws AppError `configuration` for the first that is found. */
export function refuseImpossible(config: Config, source: ConfigSource): void {
  refuseIsolation(config, source);
  refuseUnknownDetectors(config, source);
  refuseTooFewShells(config, source);
}

/** Ignoring a wish for isolation would be worse than refusing to start. */
function refuseIsolation({ sandbox }: Config, source: ConfigSource): void {
  if (sandbox.network.mode === 'open') return;
  const problem = `${sandbox.network.mode} cannot be kept by this kind of sandbox; set it to open or remove the line`;
  throw configError(source, ['sandbox', 'network', 'mode'], problem);
}

function refuseUnknownDetectors({ safety_finish_reason: { detectors } }: Config, source: ConfigSource): void {
  const unknown = detectors?.findIndex(({ use }) => safetyDetectorName(use) === null) ?? -1;
  if (unknown < 0) return;
  const known = Object.keys(SAFETY_DETECTORS).join(', ');
  throw configError(source, ['safety_finish_reason', 'detectors', unknown, 'use'], `expected one of ${known}`);
}

const SHELL_LIMIT = 'MAX_SHELL_SESSIONS';

/** Each subagent at work holds a shell, and so does the agent that waits for them. */
function refuseTooFewShells({ sandbox, subagent_runtime }: Config, source: ConfigSource): void {
  const written = sandbox.environment[SHELL_LIMIT];
  if (written === undefined) return;
  const { max_running: running } = subagent_runtime;
  const shells = typeof written === 'boolean' || !/^\d+$/.test(String(written)) ? Number.NaN : Number(written);
  if (shells >= running + 1) return;
  const problem = `expected a whole number of at least ${running + 1}, as subagent_runtime.max_running is ${running}`;
  const got = Number.isNaN(shells) ? 'another value' : String(shells);
  throw configError(source, ['sandbox', 'environment', SHELL_LIMIT], `${problem}; got ${got}`);
}
