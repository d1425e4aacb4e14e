import { openFernet, sealFernet } from './fernet';
import type { FernetKey } from './fernet';
import { keyFileMadeIfMissing, readKeyFile } from './key-file';

/** Encrypts what is stored, and reads it again. */
export interface CredentialCipher {
  /** The form in which a value is stored. Makes the key file where there is neither a variable nor a file. */
  seal(text: string): Promise<string>;
  /** Null where the value cannot be read: its key is gone, or it was changed. Never makes a key. */
  open(stored: string): Promise<string | null>;
}

export interface CredentialCipherOptions {
  /** The keys of the environment; null: the one in the file of the home. */
  keys: readonly FernetKey[] | null;
  home: string;
}

/** Makes the key before anything is stored, so that all processes of a home that store credentials begin with one key. */
export async function prepareCredentialKey({ keys, home }: CredentialCipherOptions): Promise<void> {
  if (keys === null) await keyFileMadeIfMissing(home);
}

/** What is written has the first prefix; values of earlier builds have the other, under the same key. */
const PREFIXES = ['fernet:v2:', 'fernet:v1:'] as const;

export function createCredentialCipher({ keys, home }: CredentialCipherOptions): CredentialCipher {
  /** Read each time while it is a file: another process may have made it meanwhile, and it is read rarely. */
  async function known(): Promise<readonly FernetKey[]> {
    if (keys !== null) return keys;
    const key = await readKeyFile(home);
    return key === null ? [] : [key];
  }

  return {
    async seal(text) {
      const [first] = await known();
      return `${PREFIXES[0]}${sealFernet(first ?? (await keyFileMadeIfMissing(home)), text)}`;
    },
    async open(stored) {
      const prefix = PREFIXES.find((candidate) => stored.startsWith(candidate));
      if (prefix === undefined) return null;
      const token = stored.slice(prefix.length);
      for (const key of await known()) {
        const text = openFernet(key, token);
        if (text !== null) return text;
      }
      return null;
    },
  };
}
