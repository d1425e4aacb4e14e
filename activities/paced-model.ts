import type { Config } from '../contracts/schemas/config';
import type { ChatModel } from '../models';
import type { ModelPermits } from './model-permits';

/** The model with each of its attempts in its turn; whoever asks a model asks this one. */
export function pacedModel(permits: ModelPermits, config: Config, model: ChatModel): ChatModel {
  const { request_admission: admission } = config.models.find(({ name }) => name === model.name) ?? {};
  const { max_concurrent_calls: maxConcurrent } = config.llm_call;
  return {
    ...model,
    reply: (request) =>
      permits.attempt({ model: model.name, admission, maxConcurrent, signal: request.signal }, () =>
        model.reply(request),
      ),
  };
}
