/**
 * Configuration: find, read, resolve, validate and freeze. The only folder that reads the process's environment; it
 * starts nothing and connects to nothing.
 */
export { announceConfig } from './announce-config';
export { checkDeployment, requireDeployable } from './deployment-gates';
export type { GateFinding, GateReport } from './deployment-gates';
export { createCredentialCipher, fernetKey, openFernet, prepareCredentialKey } from './credentials';
export type { CredentialCipher } from './credentials';
export { deploymentKey } from './deployment-key';
export { parseEnvironment, processEnvironment } from './environment';
export type { Environment, LogLevel } from './environment';
export { withEnvironmentFile } from './environment-file';
export type { EnvironmentVariables } from './environment-variables';
export { openLiveExtensions } from './extensions/live-extensions';
export type { LiveExtensions } from './extensions/live-extensions';
export { createLiveConfig } from './live/live-config';
export type { LiveConfig } from './live/live-config';
export { withMoreModels } from './live/with-more-models';
export { loadConfig } from './load-config';
export type { ConfigDocument, LoadedConfig } from './load-config';
export { configFile } from './locate-config';
export type { ConfigLocation } from './locate-config';
export { listPublicModels } from './public-models';
export type { PublicModel, PublicReasoning } from './public-models';
export { lostModels, restoreSnapshot, secretVariables, takeSnapshot } from './snapshot/snapshot';
export type { ConfigSnapshot } from './snapshot/snapshot';
export { CONFIG_VERSION } from './config-version';
export { schemaKeys } from './schema-keys';
