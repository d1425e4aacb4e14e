/** Version of the layout of `config.yaml` that this code knows; the example file carries the same number. */
export const CONFIG_VERSION = 34;
