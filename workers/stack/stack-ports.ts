/** The four ports of a stack. */
import type { StackOptions } from './options';
import { choosePorts, isPortFree, type PortWish } from './ports';
import type { Progress } from './progress';
import type { Service } from './supervisor';

export type PortName = 'api' | 'temporalUi' | 'postgres' | 'temporal';

export interface StackPorts extends Record<PortName, number> {
  /** Chooses these anew. Throws where the user named one of them. */
  replace(names: readonly PortName[]): Promise<void>;
}

const PREFERRED_API_PORT = 8001;
const PREFERRED_UI_PORT = 8233;
const ATTEMPTS = 4;

export async function chooseStackPorts(options: StackOptions, progress: Progress): Promise<StackPorts> {
  const wishes = wishesOf(options);
  const ports: StackPorts = {
    ...{ api: 0, temporalUi: 0, postgres: 0, temporal: 0 },
    async replace(names) {
      const chosen = await choosePorts(names.map((name) => wishes[name]));
      names.forEach((name, index) => (ports[name] = chosen[index] ?? 0));
      if (names.includes('api') && options.apiPort === undefined && ports.api !== PREFERRED_API_PORT) {
        progress.step(`Port ${PREFERRED_API_PORT} is taken: the API gets port ${ports.api}.`);
      }
    },
  };
  await ports.replace(['api', 'temporalUi', 'postgres', 'temporal']);
  return ports;
}

function wishesOf(options: StackOptions): Record<PortName, PortWish> {
  return {
    api: {
      named: options.apiPort,
      preferred: PREFERRED_API_PORT,
      host: options.environment.gateway.host,
      purpose: 'the API',
      remedy: 'choose another with --port or GATEWAY_PORT',
    },
    temporalUi: {
      named: options.temporalUiPort,
      preferred: PREFERRED_UI_PORT,
      purpose: 'the Temporal UI',
      remedy: 'choose another with --temporal-ui-port',
    },
    postgres: { purpose: 'PostgreSQL', remedy: 'try again' },
    temporal: { purpose: 'Temporal', remedy: 'try again' },
  };
}

/**
 * Between the choice of a port and its use another program may take it. A service that never ran may then have another
 * port; one that did keeps what others know it by.
 */
export function withReplaceablePorts(service: Service, ports: StackPorts, names: readonly PortName[]): Service {
  let hasRun = false;
  const areFree = async () => (await Promise.all(names.map((name) => isPortFree(ports[name])))).every(Boolean);
  return {
    name: service.name,
    async start(signal) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          const running = await service.start(signal);
          hasRun = true;
          return running;
        } catch (error) {
          if (hasRun || signal.aborted || attempt === ATTEMPTS) throw error;
          const free = await areFree();
          // Whoever was quicker may be gone again by now.
          if (free && !saysPortTaken(error)) throw error;
          if (!free) await ports.replace(names);
        }
      }
    },
  };
}

function saysPortTaken(error: unknown): boolean {
  return error instanceof Error && /port \d+ .*is taken|address already in use/i.test(error.message);
}
