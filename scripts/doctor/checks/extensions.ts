import { openLiveExtensions } from '../../../config';
import type { EnvironmentVariables, LoadedConfig } from '../../../config';
import { isAppError } from '../../../contracts';
import type { Extensions } from '../../../contracts/schemas/extensions';
import { createLogger } from '../../../observability';
import type { Finding } from '../finding';

const ABOUT = 'extensions';

export interface ExtensionsCheckOptions {
  loaded: LoadedConfig;
  env: EnvironmentVariables;
  cwd: string;
}

/** Nothing to say where there are none. */
export function checkExtensions({ loaded, env, cwd }: ExtensionsCheckOptions): Finding[] {
  const log = createLogger({ level: 'silent', name: 'doctor' });
  try {
    const extensions = openLiveExtensions({ location: { env, cwd }, overrides: () => loaded.extensions, log });
    return unused(extensions.current());
  } catch (error) {
    if (!isAppError(error, 'configuration')) throw error;
    const remedy = 'mend what is named; an API process that already runs goes on with what it last read';
    return [{ about: ABOUT, status: 'refused', text: error.message, remedy }];
  }
}

function unused({ mcpServers, skills, middlewares, mcpInterceptors }: Extensions): Finding[] {
  const parts = {
    'MCP servers': Object.keys(mcpServers),
    'switches of skills': Object.keys(skills),
    middlewares,
    'MCP interceptors': mcpInterceptors,
  };
  return Object.entries(parts)
    .filter(([, entries]) => entries.length > 0)
    .map(([what, entries]) => ({
      about: ABOUT,
      status: 'not_active',
      text: `${what} (${entries.length}) are read and kept, and agents do not use them yet`,
    }));
}
