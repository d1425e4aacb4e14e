/** No Docker engine is needed to see whether the compose file holds together. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseEnvironment } from '../../../config';
import { findInstallation } from '../../../workers/stack/project-root';

interface Service {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  configs?: { source: string; target: string }[];
  volumes?: string[];
  ports?: string[];
  network_mode?: string;
  healthcheck?: unknown;
}

interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  configs: Record<string, { content: string }>;
}

const root = findInstallation();
const compose = parse(readFileSync(join(root, 'docker-compose.yaml'), 'utf8'), { merge: true }) as Compose;
const services = Object.entries(compose.services);

test('every service, volume and config that is referred to is defined', () => {
  for (const [name, service] of services) {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect([name, Object.keys(compose.services)]).toEqual([name, expect.arrayContaining([other])]);
      if (condition === 'service_healthy') expect(compose.services[other]?.healthcheck).toBeDefined();
    }
    for (const { source } of service.configs ?? []) expect(compose.configs[source]?.content).toBeDefined();
    for (const volume of service.volumes ?? []) expect(compose.volumes).toHaveProperty(volume.split(':')[0] ?? '');
  }
});

test('every image has a version', () => {
  for (const [, { image, build }] of services) {
    expect(image).toMatch(/:[\w.-]+$/);
    if (image === 'deer-flow:local') expect(existsSync(join(root, build ?? '', 'Dockerfile'))).toBe(true);
    else expect(image).not.toMatch(/:latest$/);
  }
});

test('nothing is reachable from outside the host', () => {
  for (const [, { ports }] of services) for (const port of ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  expect(compose.services.api).toMatchObject({ network_mode: 'host', environment: { GATEWAY_HOST: '127.0.0.1' } });
});

test('the API and the worker get the variables that they read, and start from files of the build', () => {
  for (const name of ['api', 'worker']) {
    const { environment = {}, command = [] } = compose.services[name] ?? {};
    const filled = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [
        key,
        value.replace(/\$\{\w+:-(\w+)\}/, '$1').replace(/\$\{\w+:\?[^}]*\}/, 'example'),
      ]),
    );
    const parsed = parseEnvironment(filled, root);
    expect(parsed.database.url).toMatch(/^postgresql:\/\/deerflow:example@/);
    expect(parsed.temporal.address).toMatch(/:7233$/);
    const source = (command[1] ?? '').replace(/^dist\//, '').replace(/\.js$/, '.ts');
    expect(existsSync(join(root, source))).toBe(true);
  }
});

test('no password is written down', () => {
  for (const [, { environment = {} }] of services) {
    for (const [key, value] of Object.entries(environment)) {
      if (/PASSWORD|PWD/.test(key)) expect(value).toMatch(/^\$\{POSTGRES_PASSWORD:\?/);
    }
  }
});

test('the Temporal server gets the poll limits without which every step waits for a tick', () => {
  const dynamic = parse(compose.configs['temporal-dynamic']?.content ?? '') as Record<string, { value: unknown }[]>;
  for (const queue of ['transfer', 'timer', 'visibility']) {
    expect(dynamic[`history.${queue}ProcessorMaxPollRPS`]).toEqual([{ value: 2000 }]);
  }
  expect(dynamic['system.enableActivityEagerExecution']).toEqual([{ value: true }]);
  expect(dynamic['matching.enableFairness']).toEqual([{ value: true }]);
});
