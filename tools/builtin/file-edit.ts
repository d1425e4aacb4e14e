/**
 * Changing a file that the model must have read before. Check and write are one critical
 * section, and the content is compared once more at the moment of replacing the file.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { isAppError } from '../../contracts';
import { normaliseVirtualPath, type Sandbox } from '../../sandbox';
import { failure, success } from '../outcomes';
import { isRunEnded } from '../run-ended';
import { cutMiddle } from '../text-limits';
import type { ToolContext, ToolOutcome, WritePlan } from '../tool';

const LONGEST_ERROR = 2_000;

export interface FileEdit {
  path: string;
  /** Makes the change from the current content (null: no such file), or says why there is none to make. */
  change(current: Buffer | null): FileChange | ToolOutcome;
}

export interface FileChange {
  /** Written after the current content where `append` is set, else in its place. */
  text: string;
  append: boolean;
  /** What the model reads after the write. */
  answer: string;
}

interface Prepared extends FileChange {
  before: string | null;
  after: string;
  /** Whether the write depends on the file being as it was found. */
  isGuarded: boolean;
}

/** What the edit would do to the file; null where nothing would change or the edit would be refused. */
export async function planEdit(edit: FileEdit, context: ToolContext): Promise<WritePlan | null> {
  try {
    const prepared = await prepare(await context.sandbox(), edit, context);
    if ('status' in prepared || prepared.before === prepared.after) return null;
    return { path: normaliseVirtualPath(edit.path), before: prepared.before, after: prepared.after };
  } catch (error) {
    context.signal.throwIfAborted();
    if (isRunEnded(error)) throw error;
    // The call itself reports what is wrong.
    if (isAppError(error)) return null;
    throw error;
  }
}

export async function applyEdit(edit: FileEdit, context: ToolContext): Promise<ToolOutcome> {
  const sandbox = await context.sandbox();
  return sandbox.exclusively(edit.path, async () => {
    const prepared = await prepare(sandbox, edit, context);
    if ('status' in prepared) return prepared;
    try {
      await sandbox.writeFile(edit.path, prepared.text, {
        append: prepared.append,
        expectedSha256: prepared.isGuarded ? prepared.before : undefined,
        signal: context.signal,
      });
    } catch (error) {
      if (isAppError(error, 'precondition_failed')) return failure(changedText(edit.path));
      if (isAppError(error, 'sandbox')) {
        return failure(
          cutMiddle(`Failed to write file '${edit.path}': ${error.message}`, LONGEST_ERROR - 'Error: '.length),
        );
      }
      throw error;
    }
    return success(prepared.answer);
  });
}

async function prepare(sandbox: Sandbox, edit: FileEdit, context: ToolContext): Promise<Prepared | ToolOutcome> {
  const current = await sandbox.readBytes(edit.path, { signal: context.signal });
  const before = current === null ? null : sha256(current);
  const isGated = context.config.read_before_write.enabled;
  const change = edit.change(current);
  if ('status' in change && change.status === 'success') return change;
  // A file that `read_file` cannot show can never be read: it may be replaced.
  if (isGated && current !== null && isUtf8(current)) {
    const mark = context.readMark(normaliseVirtualPath(edit.path));
    if (mark === undefined) return failure(unreadText(edit.path));
    if (mark !== before) return failure(changedText(edit.path));
  }
  if ('status' in change) return change;
  const added = Buffer.from(change.text);
  const content = change.append && current ? Buffer.concat([current, added]) : added;
  return { ...change, before, after: sha256(content), isGuarded: isGated };
}

function unreadText(path: string): string {
  return `${path} exists and has not been read. Read it with read_file first, then make the change.`;
}

function changedText(path: string): string {
  return `${path} has changed since it was last read. Read it again with read_file, then make the change.`;
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
