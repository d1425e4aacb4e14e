import { randomBytes } from 'node:crypto';
import type { ManagedModelConfig } from '../../contracts/schemas/managed-models';

const MAX_SLUG_CHARS = 60;
const SUFFIX_BYTES = 5;

/** An ASCII name that says something and that nobody else has: what is in a model id does not fit into paths. */
export function generateName({ provider, model }: ManagedModelConfig): string {
  const words = `${provider}-${model}`
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  const slug = words.slice(0, MAX_SLUG_CHARS).replace(/^-+|-+$/g, '');
  return `${slug}-${randomBytes(SUFFIX_BYTES).toString('hex')}`;
}
