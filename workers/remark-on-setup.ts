/** What of a configuration cannot be used in this process. None of it stands in the way of runs that do without. */
import type { RunSetup } from '../activities';
import { isAppError } from '../contracts';

interface Warns {
  warn(fields: object, message: string): void;
}

/** A line in the log for each model that cannot be built and each tool that is not offered, before a run meets it. */
export function remarkOnSetup({ models, tools }: RunSetup, log: Warns): void {
  for (const model of models.names()) {
    try {
      models.resolve(model);
    } catch (error) {
      if (!isAppError(error)) throw error;
      log.warn({ model }, `this model cannot be used: ${error.message}`);
    }
  }
  for (const { name, reason } of tools.inactive) log.warn({ tool: name }, `this tool is not offered: ${reason}`);
}
