/** The scripted model of the tests. See `fake-model/steps.ts` for the words, `plan.ts` for scripts inside a message. */
export { startFakeModel } from './fake-model/server';
export type { FakeModel, FakeModelOptions, RecordedRequest } from './fake-model/server';
export {
  body,
  call,
  calls,
  cut,
  cutJson,
  emptyChoices,
  errorInStream,
  fail,
  hang,
  raw,
  say,
  stall,
} from './fake-model/steps';
export type { RawReply, ReplyOptions, ScriptedCall, Step } from './fake-model/steps';
