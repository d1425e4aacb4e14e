import type { Request } from 'express';
import { z } from 'zod';
import { threadIdSchema } from '../../contracts/schemas/fields';
import { pathParameter } from './handler';
import { parse } from './validation';

const pathSchema = z.object({ thread_id: threadIdSchema });

/** The thread id of the path; anything else than an id is told before anything is looked up. */
export function threadIdOf(request: Request): string {
  return parse(pathSchema, { thread_id: pathParameter(request, 'threadId') }, 'path').thread_id;
}
