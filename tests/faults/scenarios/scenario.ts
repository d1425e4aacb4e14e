/** What a scenario is, and what it gets to work with. */
import type { Cluster, ClusterOptions } from '../cluster/cluster';
import type { Slot, SlotKind } from '../cluster/slot';
import type { Random } from '../random';
import type { Workload } from '../workload/workload';

export interface ScenarioContext {
  cluster: Cluster;
  /** The process that this scenario may do to what it likes; no other scenario touches it meanwhile. */
  victim: Slot;
  workload: Workload;
  random: Random;
  /** A line for the report. */
  note(text: string): void;
}

export interface Scenario {
  /** For `--only` and `--list`. */
  name: string;
  /** What is promised. */
  title: string;
  /** Only with `--long`. */
  long?: boolean;
  /** Why it cannot run here; null where it can. */
  unavailable?: () => string | null;
  /** Scenarios with a victim run side by side, each with another one; one without has the cluster for itself. */
  victim?: SlotKind;
  /** Gets a cluster of its own, which is thrown away. */
  ownCluster?: (cleanUp: (work: () => Promise<void>) => void) => Promise<ClusterOptions>;
  /** Leaves the cluster as whole as it was. Runs may still be under way: their ends are waited for, and then checked. */
  run(context: ScenarioContext): Promise<void>;
}
