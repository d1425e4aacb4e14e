/** Encryption of credentials that are stored: the keys, their file, and the form in which a value is kept. */
export { createCredentialCipher, prepareCredentialKey } from './cipher';
export type { CredentialCipher } from './cipher';
export { fernetKey, openFernet } from './fernet';
