/** What the schemas of the built-in tools share. Names and defaults are what models are trained on: keep them. */
import { z } from 'zod';

/** A label for people who watch the run. Models leave it out at times; nothing depends on it. */
export const description = z
  .string()
  .optional()
  .describe('In a few words, why you call this tool. Always put this argument first.');

export const absolutePath = (what: string) => z.string().describe(`Absolute path of the ${what}.`);
