/** `npm run config:upgrade`: brings a configuration file to the layout of this version. */
import { copyFileSync, existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { configFile, withEnvironmentFile } from '../config';
import { AppError } from '../contracts';
import { writeFileAtomically } from '../workers/stack/atomic-file';
import { runCommand } from '../workers/stack/command';
import { findInstallation } from '../workers/stack/project-root';
import { upgradeConfig } from './config-upgrade/upgrade';

const HELP = `Usage: npm run config:upgrade [-- options]

Adds the keys that are new in config.example.yaml to your config.yaml. What you have set stays, and so do your
comments. The file as it was is kept beside it with the ending .bak. Without a config.yaml, the example is copied.

  --config <file>  another file than the one that a start would read
  --dry-run        say what would be added, and change nothing
  --help           this text
`;

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return print(HELP);
  const example = join(findInstallation(), 'config.example.yaml');
  if (!existsSync(example))
    throw new AppError('configuration', 'config.example.yaml is missing from this installation.');
  const cwd = process.cwd();
  // As a start finds it, which also reads the `.env` file.
  const file = configFile({ path: options.config, env: withEnvironmentFile(process.env, cwd), cwd });
  const name = basename(file);
  if (!existsSync(file)) {
    if (!options.dryRun) copyFileSync(example, file);
    return print(
      `There is no ${name}: ${options.dryRun ? 'the example would be copied' : 'the example was copied'}.\n`,
    );
  }
  const own = readText(file, name);
  const { text, from, to, added } = upgradeConfig(own, readFileSync(example, 'utf8'));
  if (text === null) return print(`${name} is up to date (version ${from}).\n`);
  const list = added.length === 0 ? '' : `\nNew: ${added.join(', ')}`;
  if (options.dryRun) return print(`${name} would go from version ${from} to ${to}.${list}\n`);
  // Through a link, the file that it leads to is written, and the link stays.
  const target = realpathSync(file);
  copyFileSync(target, `${target}.bak`);
  writeFileAtomically(target, text, statSync(target).mode & 0o777);
  print(`${name} went from version ${from} to ${to}; the file as it was is ${name}.bak.${list}\n`);
}

/** Bytes that are no UTF-8 would be written back as question marks. */
function readText(file: string, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    const problem = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'UTF-8 text' : `a readable file (${code})`;
    throw new AppError('configuration', `${name}: expected ${problem}`);
  }
}

function readOptions(argv: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        config: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
      strict: true,
      allowPositionals: false,
    });
    return { config: values.config, dryRun: values['dry-run'], help: values.help };
  } catch (cause) {
    throw new AppError('bad_request', `${(cause as Error).message}. See --help.`);
  }
}

function print(text: string): void {
  process.stdout.write(text);
}

runCommand(main);
