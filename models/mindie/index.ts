/** MindIE, the inference server of Ascend: chat completions with tool calls written into the text. */
export { mindIeAdapters } from './adapters';
