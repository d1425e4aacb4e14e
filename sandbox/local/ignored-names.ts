/** Names that listings and searches leave out at every level. */

const NAMES = new Set(
  (
    '.git .svn .hg .bzr node_modules __pycache__ .venv venv .env env .tox .nox .eggs site-packages dist build .next ' +
    '.nuxt .output .turbo target out .idea .vscode .project .classpath .settings .DS_Store Thumbs.db desktop.ini ' +
    '.cache logs .coverage coverage .nyc_output htmlcov .pytest_cache .mypy_cache .ruff_cache'
  ).split(' '),
);

const ENDINGS = ['.egg-info', '.swp', '.swo', '~', '.lnk', '.log', '.tmp', '.temp', '.bak', '.cache'];

export function isIgnoredName(name: string): boolean {
  if (NAMES.has(name) || ENDINGS.some((ending) => name.endsWith(ending))) return true;
  return name.startsWith('.upload-') && name.endsWith('.part');
}
