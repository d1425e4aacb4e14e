/** The command line of `ask`. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AppError } from '../../contracts';

export interface AskOptions {
  help: boolean;
  question: string;
  url?: string;
  thread?: string;
  model?: string;
  files: string[];
  /** Flags for the stack that is looked for, or started for the time of the question. */
  stackFlags: string[];
}

const FLAGS = {
  url: { type: 'string' },
  thread: { type: 'string' },
  model: { type: 'string' },
  file: { type: 'string', multiple: true },
  home: { type: 'string' },
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const ASK_HELP = `Sends a question to a running stack and shows the answer as it comes.

Usage: npm run ask -- "question" [flags]

  --url <address>   the API to ask; without it the stack that runs on the home, or one started for this question
  --thread <id>     goes on with an earlier conversation
  --model <name>    the model to ask, by its name in the configuration
  --file <path>     uploads a file for the question; may be repeated
  --home <folder>   the home of the stack (DEER_FLOW_HOME)
  --config <file>   the configuration of a stack that is started (DEER_FLOW_CONFIG_PATH)
  --help            this text

The answer goes to the standard output, everything else to the standard error.
Ctrl-C asks whether to stop the run or to leave it running; a second Ctrl-C leaves it.
Exit code: 0 answered, 1 failed, 2 wrong usage, 130 stopped or left.
`;

export function parseAskOptions(argv: readonly string[], cwd: string): AskOptions {
  const { values, positionals } = readFlags(argv);
  const options: AskOptions = {
    help: values.help ?? false,
    question: positionals.join(' ').trim(),
    url: values.url === undefined ? undefined : addressOf(values.url),
    thread: values.thread,
    model: values.model,
    files: (values.file ?? []).map((path) => existingFile(resolve(cwd, path), path)),
    stackFlags: [
      ...(values.home === undefined ? [] : ['--home', values.home]),
      ...(values.config === undefined ? [] : ['--config', values.config]),
    ],
  };
  if (!options.help && options.question === '') throw usageError('A question is missing');
  return options;
}

function readFlags(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: FLAGS, strict: true, allowPositionals: true });
  } catch (cause) {
    throw usageError((cause as Error).message);
  }
}

function addressOf(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw usageError('--url: expected http://host:port');
  return text.replace(/\/+$/, '');
}

function existingFile(path: string, asGiven: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw usageError(`--file: there is no file ${asGiven}`);
  return path;
}

function usageError(problem: string): AppError {
  return new AppError('bad_request', `${problem}. See --help.`);
}
