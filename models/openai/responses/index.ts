export { reasoningOf, SEALED_THOUGHTS, toResponsesBody } from './request-body';
export { createResponsesChatModel } from './responses-chat-model';
