/**
 * The environment for the Temporal CLI. It is a client too, and would take addresses, credentials and settings for one
 * from its variables and from files in the user's home, and fail where it may not read them.
 */
export function temporalEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const rest = Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_') && name !== 'XDG_CONFIG_HOME');
  return { ...Object.fromEntries(rest), HOME: '/nonexistent' };
}
