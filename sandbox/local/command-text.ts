/** The one text that a command's outcome becomes. */
import { OUTPUT_LIMIT_BYTES, type ProcessResult, type StreamOutput } from './process-runner';

export function commandText(result: ProcessResult, timeoutMs: number): string {
  const stdout = streamText('standard output', result.stdout);
  const stderr = streamText('standard error', result.stderr);
  let text = stdout;
  if (stderr !== '') text = stdout === '' ? stderr : `${stdout}\nStd Error:\n${stderr}`;
  if (result.timedOut) return joined(text, timeoutNotice(timeoutMs));
  const exitCode = result.exitCode ?? exitCodeOfSignal(result.signalName);
  if (exitCode !== 0) text = joined(text, `Exit Code: ${exitCode}`);
  return text === '' ? '(no output)' : text;
}

function joined(text: string, line: string): string {
  return text === '' ? line : `${text}${text.endsWith('\n') ? '' : '\n'}${line}`;
}

function timeoutNotice(timeoutMs: number): string {
  return (
    `Command timed out after ${timeoutMs / 1000} seconds and was killed together with everything it had started. ` +
    'To keep a server running, start it in the background with its output in a file: `command > server.out 2>&1 &`.'
  );
}

function streamText(name: string, output: StreamOutput): string {
  if (output.droppedBytes === 0) return output.text;
  return (
    `${output.text}\n[${name} was cut: the first ${OUTPUT_LIMIT_BYTES} bytes are shown, ` +
    `${output.droppedBytes} more were dropped]`
  );
}

/** Shells report a death by signal as 128 plus its number. */
function exitCodeOfSignal(name: string | null): number {
  const numbers: Record<string, number> = {
    SIGHUP: 1,
    SIGINT: 2,
    SIGABRT: 6,
    SIGKILL: 9,
    SIGSEGV: 11,
    SIGPIPE: 13,
    SIGTERM: 15,
  };
  return 128 + (numbers[name ?? ''] ?? 0);
}
