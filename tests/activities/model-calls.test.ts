import { createModelCalls } from '../../activities/model-calls';
import type { NextMove } from '../../contracts';

const TURN = { runId: 'run', turn: 1 };
const END: NextMove = { kind: 'end', outcome: { kind: 'success' } };
const forever = () => new AbortController().signal;

/** A model that answers when it is told to, and counts what it is asked. */
function scripted() {
  const asked: { signal: AbortSignal; answer(): void; fail(error: Error): void }[] = [];
  const call = (_turn: unknown, signal: AbortSignal) =>
    new Promise<NextMove>((resolve, reject) => {
      asked.push({ signal, answer: () => resolve(END), fail: reject });
      signal.addEventListener('abort', () => reject(new Error('stopped')));
    });
  return { asked, call };
}

test('a quick reply is given at once, a slow one goes on and is given to whoever joins it', async () => {
  const { asked, call } = scripted();
  const calls = createModelCalls({ call, startWaitMs: 40 });
  const quick = calls.start(TURN, forever());
  asked[0]?.answer();
  expect(await quick).toEqual(END);

  expect(await calls.start({ ...TURN, turn: 2 }, forever())).toBeNull();
  const joined = calls.follow({ ...TURN, turn: 2 }, forever());
  asked[1]?.answer();
  expect(await joined).toEqual(END);
  expect(asked).toHaveLength(2);
});

test('however often a turn is asked for while it is under way, the model is asked once', async () => {
  const { asked, call } = scripted();
  const calls = createModelCalls({ call, startWaitMs: 40 });
  const all = [calls.start(TURN, forever()), calls.follow(TURN, forever()), calls.follow(TURN, forever())];
  asked[0]?.answer();
  expect(await Promise.all(all)).toEqual([END, END, END]);
  expect(asked).toHaveLength(1);
});

test('a turn whose call failed is asked for anew', async () => {
  const { asked, call } = scripted();
  const calls = createModelCalls({ call });
  const first = calls.start(TURN, forever());
  asked[0]?.fail(new Error('no answer'));
  await expect(first).rejects.toThrow('no answer');
  const second = calls.start(TURN, forever());
  asked[1]?.answer();
  expect(await second).toEqual(END);
});

test('a call that fails while nobody waits harms nothing', async () => {
  const { asked, call } = scripted();
  const calls = createModelCalls({ call, startWaitMs: 10 });
  expect(await calls.start(TURN, forever())).toBeNull();
  asked[0]?.fail(new Error('no answer'));
  await new Promise((go) => setTimeout(go, 10));
  const again = calls.follow(TURN, forever());
  asked[1]?.answer();
  expect(await again).toEqual(END);
});

test('a Stop ends the call under way', async () => {
  const { asked, call } = scripted();
  const calls = createModelCalls({ call, startWaitMs: 10 });
  expect(await calls.start(TURN, forever())).toBeNull();
  const stop = new AbortController();
  const followed = calls.follow(TURN, stop.signal);
  stop.abort();
  await expect(followed).rejects.toThrow('stopped');
  expect(asked[0]?.signal.aborted).toBe(true);
});

test('a call that nobody comes for is ended, and one that somebody comes for in time is not', async () => {
  const { asked, call } = scripted();
  const calls = createModelCalls({ call, startWaitMs: 5, unattendedMs: 60 });
  expect(await calls.start(TURN, forever())).toBeNull();
  expect(await calls.start({ ...TURN, turn: 2 }, forever())).toBeNull();
  const followed = calls.follow({ ...TURN, turn: 2 }, forever());
  await new Promise((go) => setTimeout(go, 120));
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  asked[1]?.answer();
  expect(await followed).toEqual(END);
});

test('before a worker stops, a slow call is waited for until somebody has joined it', async () => {
  const { asked, call } = scripted();
  const calls = createModelCalls({ call, startWaitMs: 10 });
  expect(await calls.start(TURN, forever())).toBeNull();
  let joined = false;
  const waiting = calls.joined(5_000).then(() => (joined = true));
  await new Promise((go) => setTimeout(go, 60));
  expect(joined).toBe(false);
  const followed = calls.follow(TURN, forever());
  await waiting;
  asked[0]?.answer();
  expect(await followed).toEqual(END);
});

test('an attempt that is given up leaves the call to the attempt that joined it', async () => {
  const { asked, call } = scripted();
  const calls = createModelCalls({ call, startWaitMs: 10 });
  const first = new AbortController();
  const given = calls.follow(TURN, first.signal);
  const kept = calls.follow(TURN, forever());
  first.abort();
  await expect(given).rejects.toThrow();
  expect(asked[0]?.signal.aborted).toBe(false);
  asked[0]?.answer();
  expect(await kept).toEqual(END);
});

test('who asks while a stopped call is on its way out gets a call of its own', async () => {
  const { asked, call } = scripted();
  const calls = createModelCalls({ call, startWaitMs: 10 });
  const stop = new AbortController();
  const stopped = calls.follow(TURN, stop.signal);
  stop.abort();
  const next = calls.follow(TURN, forever());
  await expect(stopped).rejects.toThrow('stopped');
  asked[1]?.answer();
  expect(await next).toEqual(END);
});
