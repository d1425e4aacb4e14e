/** Bundles the workflows once, at build time, so that workers start without a bundler. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

async function main(): Promise<void> {
  const root = join(__dirname, '..');
  const quiet = { trace: ignore, debug: ignore, info: ignore, warn: console.warn, error: console.error, log: ignore };
  const { code } = await bundleWorkflowCode({ workflowsPath: join(root, 'workflows', 'index.js'), logger: quiet });
  await writeFile(join(root, 'workflow-bundle.js'), code);
}

function ignore(): void {
  // The bundler's progress is of no interest to a builder.
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
