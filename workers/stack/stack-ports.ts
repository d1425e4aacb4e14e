/** The ports of a stack: chosen together, and again where another program was quicker. */
import type { StackOptions } from './options';
import { choosePorts, isPortFree, type PortWish } from './ports';
import type { Progress } from './progress';
import type { Service } from './supervisor';

export type ServerPortName = 'temporalUi' | 'postgres' | 'temporal';

export type Ports<Name extends string> = Record<Name, number> & {
  /** Chooses these anew. Throws where the user named one of them. */
  replace(names: readonly Name[]): Promise<void>;
};

/** Those of the two servers. */
export type ServerPorts = Ports<ServerPortName>;
export type StackPorts = Ports<ServerPortName | 'api'>;

const PREFERRED_API_PORT = 8001;
const PREFERRED_UI_PORT = 8233;
const ATTEMPTS = 4;

export async function chooseStackPorts(options: StackOptions, progress: Progress): Promise<StackPorts> {
  return choosePortsByName(wishesOf(options), ({ api }) => {
    if (options.apiPort !== undefined || api === undefined || api === PREFERRED_API_PORT) return;
    progress.step(`Port ${PREFERRED_API_PORT} is taken: the API gets port ${api}.`);
  });
}

/** @param onChosen hears each choice, of all or of some anew. */
export async function choosePortsByName<Name extends string>(
  wishes: Readonly<Record<Name, PortWish>>,
  onChosen: (chosen: Partial<Record<Name, number>>) => void = () => undefined,
): Promise<Ports<Name>> {
  const choose = async (names: readonly Name[]): Promise<Record<Name, number>> => {
    const numbers = await choosePorts(names.map((name) => wishes[name]));
    const chosen = Object.fromEntries(names.map((name, index) => [name, numbers[index]])) as Record<Name, number>;
    onChosen(chosen);
    return chosen;
  };
  const ports: Ports<Name> = Object.assign(await choose(Object.keys(wishes) as Name[]), {
    async replace(names: readonly Name[]): Promise<void> {
      Object.assign(ports, await choose(names));
    },
  });
  return ports;
}

function wishesOf(options: StackOptions): Record<ServerPortName | 'api', PortWish> {
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
export function withReplaceablePorts<Name extends string>(
  service: Service,
  ports: Ports<Name>,
  names: readonly Name[],
): Service {
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
