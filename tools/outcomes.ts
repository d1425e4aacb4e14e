import type { ToolOutcome } from './tool';

export function success(content: string, more: Omit<ToolOutcome, 'content' | 'status'> = {}): ToolOutcome {
  return { content, status: 'success', ...more };
}

/** An error that the tool itself reports; the model reads `Error: …`. */
export function failure(message: string): ToolOutcome {
  return { content: `Error: ${message}`, status: 'error' };
}
