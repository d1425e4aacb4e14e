/** Which texts of a configuration are taken for secrets. Doubt makes a secret: one that is kept out does no harm. */

const SECRET_KEY =
  /(^|[_.-])(api[_-]?key|access[_-]?key|private[_-]?key|key|token|secret|password|passwd|passphrase|credential|authorization|cookie|dsn|pat)s?$|apikey|secret|password|credential|tokens?$/i;
/** Whatever is below such a key is for a provider or a process alone. */
const SECRET_SECTION = /(^|_)(headers|env|environment|oauth|cookies|query|query_params|credentials|secrets)$/i;
const SECRET_FORM = /^(sk|pk|rk|xox[a-z]|gh[a-z]|glpat|hf|tvly)[-_]|^AKIA|^AIza|^eyJ|^(Bearer|Basic) |-----BEGIN /;

export function isSecretSection(key: string): boolean {
  return SECRET_SECTION.test(key) || SECRET_KEY.test(key);
}

export function isSecretText(key: string, text: string): boolean {
  return SECRET_KEY.test(key) || SECRET_FORM.test(text) || isTellingUrl(text);
}

/** An address with a user, a password or parameters in it. */
function isTellingUrl(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return false;
  if (!URL.canParse(text)) return true;
  const { username, password, search, hash } = new URL(text);
  return username !== '' || password !== '' || search !== '' || hash !== '';
}
