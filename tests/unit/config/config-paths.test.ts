import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../config';
import type { EnvironmentVariables } from '../../../config';
import { isAppError } from '../../../contracts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-paths-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The line that ends a start. */
function refusal(env: EnvironmentVariables = {}): string {
  try {
    loadConfig({ env, cwd: folder });
    return '';
  } catch (error) {
    if (isAppError(error, 'configuration')) return error.message;
    throw error;
  }
}

describe('a path that leads to no file', () => {
  const usual = () => join(folder, 'config.yaml');

  it.each<[string, () => void, RegExp]>([
    ['a folder', () => mkdirSync(usual()), /^config\.yaml: expected a readable file \(EISDIR\)$/],
    ['a link to nothing', () => symlinkSync('nowhere', usual()), /^config\.yaml: expected a readable file \(ENOENT\)$/],
    [
      'a link to itself',
      () => symlinkSync('config.yaml', usual()),
      /^config\.yaml: expected a readable file \(ELOOP\)$/,
    ],
  ])('is not taken for a wish for the defaults: %s', (_what, make, message) => {
    make();
    expect(refusal()).toMatch(message);
  });

  it.each(['', '/below', '/../loop', `/${'x'.repeat(300)}`, '/\0'])(
    'is refused by the name of its variable: %j',
    (rest) => {
      writeFileSync(join(folder, 'file.yaml'), '');
      symlinkSync('loop', join(folder, 'loop'));
      const path = `file.yaml${rest}`;
      if (rest !== '') expect(refusal({ DEER_FLOW_CONFIG_PATH: path })).toMatch(/^DEER_FLOW_CONFIG_PATH: expected/);
      expect(refusal({ DEER_FLOW_PROJECT_ROOT: path })).toMatch(/^DEER_FLOW_PROJECT_ROOT: expected/);
    },
  );
});
