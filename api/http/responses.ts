import type { Response } from 'express';

/** Answers with JSON that is text already. */
export function sendJsonText(response: Response, text: string): void {
  response.type('application/json').send(text);
}

/** An accepted or done request with nothing to tell. */
export function sendEmpty(response: Response, status: 202 | 204): void {
  response.status(status).end();
}
