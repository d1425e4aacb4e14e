import { AppError } from '../../contracts';
import { fernetKey } from './fernet';
import type { FernetKey } from './fernet';

const CREDENTIALS_KEY_VARIABLE = 'DEER_FLOW_CREDENTIALS_KEY';

/**
 * The keys of a comma-separated list: the first encrypts, each decrypts. Null where nothing is set, so that the file of
 * the home is used. One bad entry makes the list useless: a process that goes on without it would lose values silently.
 */
export function parseCredentialKeys(text: string | null): readonly FernetKey[] | null {
  if (text === null || text.trim() === '') return null;
  return text.split(',').map((entry, index) => {
    const key = fernetKey(entry.trim());
    // The entry is named by its number: its text is a secret, even when it is mistyped.
    if (key === null) throw malformed(`${CREDENTIALS_KEY_VARIABLE}: entry ${index + 1}`);
    return key;
  });
}

export function malformed(place: string): AppError {
  return new AppError('configuration', `${place}: expected a Fernet key (32 bytes in urlsafe base64, 44 characters)`);
}
