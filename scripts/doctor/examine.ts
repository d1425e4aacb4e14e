/** All checks, in the order in which a start would meet them. */
import { isAppError } from '../../contracts';
import { prepareHome } from '../../workers/stack/home';
import { parseStackOptions } from '../../workers/stack/options';
import type { StackOptions } from '../../workers/stack/options';
import { checkConfiguration } from './checks/configuration';
import { checkDatabase } from './checks/database';
import { checkExtensions } from './checks/extensions';
import { checkModels } from './checks/models';
import { checkTemporal } from './checks/temporal';
import { checkTools } from './checks/tools';
import type { Finding } from './finding';
import type { DoctorOptions } from './options';
import { findServers } from './servers';

export interface ExamineContext {
  env: NodeJS.ProcessEnv;
  cwd: string;
}

export async function examine(options: DoctorOptions, { env, cwd }: ExamineContext): Promise<Finding[]> {
  const environment = readEnvironment(options, env, cwd);
  if ('finding' in environment) return [environment.finding];
  const { stack } = environment;
  const configuration = checkConfiguration(stack.env, cwd);
  const { loaded } = configuration;
  const extensions = loaded === null ? [] : checkExtensions({ loaded, env: stack.env, cwd });
  const findings = [...configuration.findings, ...extensions, checkHome(stack.home)];
  const { databaseUrl, temporalAddress } = findServers(stack);
  const { schema } = stack.environment.database;
  findings.push(
    ...(databaseUrl === null ? [notRunning('database')] : await checkDatabase({ url: databaseUrl, schema })),
  );
  findings.push(
    ...(temporalAddress === null
      ? [notRunning('Temporal')]
      : await checkTemporal({ ...stack.environment.temporal, address: temporalAddress })),
  );
  if (loaded !== null) {
    const { config } = loaded;
    findings.push(...checkTools(config), ...(await checkModels({ config, env: stack.env, live: options.live })));
  }
  return findings;
}

function readEnvironment(
  options: DoctorOptions,
  env: NodeJS.ProcessEnv,
  cwd: string,
): { stack: StackOptions } | { finding: Finding } {
  try {
    return { stack: parseStackOptions({ argv: options.stackFlags, env, cwd }) };
  } catch (error) {
    if (!isAppError(error, 'configuration')) throw error;
    return { finding: { about: 'environment', status: 'refused', text: error.message } };
  }
}

function checkHome(home: string): Finding {
  const about = 'home';
  try {
    prepareHome(home);
    return { about, status: 'ok', text: `${home} can be written, and its disk has room` };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { about, status: 'refused', text: error.message };
  }
}

function notRunning(about: string): Finding {
  const text = 'the embedded server is not running on this home';
  return { about, status: 'not_checked', text, remedy: 'npm start starts it; run the doctor again beside it' };
}
