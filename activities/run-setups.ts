import type { Config } from '../contracts/schemas/config';
import type { ChatModelFactory } from '../models';
import type { ToolRegistry } from '../tools';

/** A configuration and what is made of it. A run has one from its beginning to its end, in whatever worker. */
export interface RunSetup {
  config: Config;
  models: ChatModelFactory;
  tools: ToolRegistry;
}

/** One that a run can begin with, and how it is kept for the run's later steps. */
export interface NewestSetup extends RunSetup {
  hash: string;
  /** What is stored under the hash; without secrets. */
  body: string;
}

export interface RunSetups {
  /** For runs that begin, and for what belongs to no run. */
  newest(): Promise<NewestSetup>;
  /**
   * The one that a run began with. Throws `configuration` where it cannot be had any more; a model that the run does not
   * use may be missing from it.
   */
  of(run: { configHash: string | null; modelName?: string | null }): Promise<RunSetup>;
}
