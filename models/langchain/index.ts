/** Providers that LangChain.js speaks with: the bridge that their adapters share, and classes of the user's own. */
export { classAdapter } from './class-adapter';
export { createLangChainChatModel } from './langchain-chat-model';
