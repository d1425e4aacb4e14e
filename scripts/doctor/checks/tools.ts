import type { Config } from '../../../contracts/schemas/config';
import { createToolRegistry } from '../../../tools';
import type { Finding } from '../finding';

const ABOUT = 'tools';

/** What of `tools` is not offered, and why. */
export function checkTools(config: Config): Finding[] {
  const { names, inactive } = createToolRegistry({ config, commandsAllowed: config.sandbox.allow_host_bash });
  return [
    { about: ABOUT, status: 'ok', text: `runs are offered ${names.join(', ')}` },
    ...inactive.map(({ name, reason }): Finding => ({
      about: ABOUT,
      status: 'not_active',
      text: `${name}: ${reason}`,
    })),
  ];
}
