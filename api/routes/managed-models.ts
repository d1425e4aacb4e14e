import { Router } from 'express';
import type { ModelConfig } from '../../contracts/schemas/config';
import { CUSTOM_PROVIDER, MANAGED_PROVIDERS } from '../../contracts/schemas/managed-models';
import type { ManagedModelRecord } from '../../contracts/schemas/managed-models';
import { PRESETS } from '../../models/managed';
import type { ApiDependencies } from '../dependencies';
import { forAdministrators } from '../http/administrators';
import { disconnectSignal } from '../http/disconnect-signal';
import { handler } from '../http/handler';
import { parseManagedModelRequest } from '../managed-models/parse-managed-model';

/** The models that administrators share with everybody. A key comes in here and never goes out. */
export function createManagedModelsRouter(deps: ApiDependencies): Router {
  const router = Router();
  const { managedModels } = deps;
  router.use('/managed-models', forAdministrators('Admin privileges are required to manage shared models.'));
  router.get(
    '/managed-models',
    handler(async (_request, response) => {
      const records = await managedModels.catalogue.records();
      const { models } = managedModels.fileConfig();
      const names = new Set(models.map(({ name }) => name));
      response.json({ models: [...models.map(fileView), ...records.map((record) => inList(record, names))] });
    }),
  );
  router.get(
    '/managed-models/providers',
    handler((_request, response) => void response.json({ providers: MANAGED_PROVIDERS.map(providerView) })),
  );
  router.put(
    '/managed-models',
    handler(async (request, response) => {
      response.json(managedView(await managedModels.catalogue.save(parseManagedModelRequest(request, response))));
    }),
  );
  router.post(
    '/managed-models/test',
    handler(async (request, response) => {
      const wanted = parseManagedModelRequest(request, response);
      const signal = AbortSignal.any([deps.shutdown, disconnectSignal(response)]);
      response.json(await managedModels.catalogue.test(wanted, signal));
    }),
  );
  return router;
}

function fileView({ name, display_name, model }: ModelConfig) {
  return { name, display_name: display_name || name, model, source: 'config', enabled: true };
}

function inList(record: ManagedModelRecord, fileNames: ReadonlySet<string>) {
  return { ...managedView(record), conflict: fileNames.has(record.name) };
}

/** By names of what is shown, so that nothing new in a record is shown by itself. */
function managedView(record: ManagedModelRecord) {
  const { name, provider, display_name, model, enabled, supports_vision, context_window, max_tokens } = record;
  return {
    name,
    provider,
    display_name: display_name || name,
    model,
    base_url: PRESETS[provider].baseUrl ?? record.base_url,
    enabled,
    supports_vision,
    context_window,
    max_tokens,
    reasoning: record.reasoning,
    revision: record.revision,
    has_api_key: Boolean(record.api_key),
    source: 'managed',
  };
}

function providerView(id: (typeof MANAGED_PROVIDERS)[number]) {
  const { label, needsKey } = PRESETS[id];
  return { id, label, requires_api_key: needsKey, requires_base_url: id === CUSTOM_PROVIDER };
}
