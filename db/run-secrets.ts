import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Database } from './database';

/** Request-scoped secrets: sealed at rest under the deployment key, and gone when the run ends. */
export interface RunSecretStore {
  /** The form in which they are stored, together with the run that they belong to. */
  seal(runId: string, secrets: Record<string, string>): Buffer;
  open(runId: string): Promise<Record<string, string>>;
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @param key 32 bytes. */
export function createRunSecretStore(database: Database, key: Buffer): RunSecretStore {
  return {
    seal(runId, secrets) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(runId));
      const body = Buffer.concat([cipher.update(JSON.stringify(secrets), 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    async open(runId) {
      const { rows } = await database.pool.query<{ sealed: Buffer }>(
        'select sealed from run_secrets where run_id = $1',
        [runId],
      );
      const sealed = rows[0]?.sealed;
      if (sealed === undefined) return {};
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(runId)).setAuthTag(tag);
      const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      return JSON.parse(text.toString('utf8')) as Record<string, string>;
    },
  };
}
