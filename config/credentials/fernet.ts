/**
 * Fernet tokens: AES-128-CBC under an HMAC-SHA256, as DeerFlow and Python's `cryptography` write them. The age of a token
 * is not looked at: what is stored here has to outlive any limit.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** A key that was checked. Printed or put into JSON, it shows nothing of its bytes. */
export interface FernetKey {
  readonly signing: KeyObject;
  readonly encryption: KeyObject;
}

const VERSION = 0x80;
const ALGORITHM = 'aes-128-cbc';
const BLOCK_BYTES = 16;
const TAG_BYTES = 32;
const HEADER_BYTES = 1 + 8 + BLOCK_BYTES;
/** 32 bytes in urlsafe base64, its padding included. */
const KEY_TEXT = /^[A-Za-z0-9_-]{43}=$/;
const TOKEN_TEXT = /^[A-Za-z0-9_-]+={0,2}$/;

/** Null where the text is no key. */
export function fernetKey(text: string): FernetKey | null {
  if (!KEY_TEXT.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  return {
    signing: createSecretKey(bytes.subarray(0, BLOCK_BYTES)),
    encryption: createSecretKey(bytes.subarray(BLOCK_BYTES)),
  };
}

export function generateFernetKey(): string {
  return urlsafe(randomBytes(2 * BLOCK_BYTES));
}

export interface SealOptions {
  /** Milliseconds; now by default. */
  at?: number;
  iv?: Buffer;
}

export function sealFernet(key: FernetKey, text: string, options: SealOptions = {}): string {
  const { at = Date.now(), iv = randomBytes(BLOCK_BYTES) } = options;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(VERSION, 0);
  header.writeBigUInt64BE(BigInt(Math.floor(at / 1000)), 1);
  iv.copy(header, 9);
  const cipher = createCipheriv(ALGORITHM, key.encryption, iv);
  const signed = Buffer.concat([header, cipher.update(text, 'utf8'), cipher.final()]);
  return urlsafe(Buffer.concat([signed, tagOf(key, signed)]));
}

/** Null where the token was not made with this key, or was changed. */
export function openFernet(key: FernetKey, token: string): string | null {
  const bytes = decode(token);
  if (bytes === null || bytes[0] !== VERSION) return null;
  const signed = bytes.subarray(0, bytes.length - TAG_BYTES);
  const encrypted = signed.subarray(HEADER_BYTES);
  if (encrypted.length < BLOCK_BYTES || encrypted.length % BLOCK_BYTES !== 0) return null;
  // Before anything is decrypted: what is not from us must not reach the cipher.
  if (!timingSafeEqual(tagOf(key, signed), bytes.subarray(signed.length))) return null;
  try {
    const decipher = createDecipheriv(ALGORITHM, key.encryption, signed.subarray(9, HEADER_BYTES));
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

function decode(token: string): Buffer | null {
  if (!TOKEN_TEXT.test(token) || token.length % 4 !== 0) return null;
  const bytes = Buffer.from(token, 'base64url');
  return bytes.length < HEADER_BYTES + TAG_BYTES ? null : bytes;
}

function tagOf(key: FernetKey, signed: Buffer): Buffer {
  return createHmac('sha256', key.signing).update(signed).digest();
}

function urlsafe(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}
