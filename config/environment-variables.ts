/** Environment variables as they come: text, or absent. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;
