/** The `--help` texts of the stack commands. */

const COMMON = `
  --port <n>              port of the API (GATEWAY_PORT); 8001 or, where that is taken, a free one
  --home <folder>         where everything is kept (DEER_FLOW_HOME); .deer-flow in the working directory
  --config <file>         configuration (DEER_FLOW_CONFIG_PATH); config.yaml in the working directory`;

const GIVEN_SERVERS = `
  DATABASE_URL            a PostgreSQL server to use
  TEMPORAL_ADDRESS        a Temporal server to use, host:port (TEMPORAL_NAMESPACE: default)`;

export const START_HELP = `Starts PostgreSQL, Temporal, a worker and the API, and keeps them running until Ctrl-C.

Usage: npm start -- [flags]
${COMMON}
  --temporal-ui-port <n>  port of the Temporal UI; 8233 or, where that is taken, a free one
  --help                  this text

Environment variables besides those in parentheses:
${GIVEN_SERVERS}
  DEER_FLOW_TEMPORAL_BIN  the Temporal CLI to start the server with
  DEER_FLOW_CACHE_DIR     where a fetched Temporal server is kept
`;

export function partHelp(name: 'api' | 'worker'): string {
  const what = name === 'api' ? 'the API' : 'a worker';
  return `Starts ${what} alone. Any number of them may run against the same servers.

Usage: npm run start:${name} -- [flags]
${COMMON}
  --help                  this text

Environment variables besides those in parentheses:
${GIVEN_SERVERS}

Without these two it joins the stack that "npm start" runs on the same home.
`;
}
