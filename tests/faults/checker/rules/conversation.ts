import type { AiMessage } from '../../../../contracts';
import type { Finding, MessageFact, Rule } from '../evidence';
import { groupBy } from '../grouping';

export const pairedCalls: Rule = {
  name: 'call-without-result',
  promise: 'In a thread at rest, every tool call has one result behind its reply, and no result lacks its call.',
  check({ messages, threads }) {
    const waiting = new Set(
      threads.filter(({ waitsFor }) => waitsFor.includes('tools')).map(({ threadId }) => threadId),
    );
    const shown = messages.filter(({ until }) => until === null);
    return [...groupBy(shown, ({ threadId }) => threadId)].flatMap(([threadId, ofThread]) =>
      threadFaults(ofThread, waiting.has(threadId)).map((message): Finding => ({ subject: threadId, message })),
    );
  },
};

function threadFaults(messages: readonly MessageFact[], waits: boolean): string[] {
  const faults: string[] = [];
  const inOrder = [...messages].sort((left, right) => left.position - right.position).map(({ body }) => body);
  let reply: AiMessage | null = null;
  let open: string[] = [];
  const close = (isLast: boolean): void => {
    if (open.length > 0 && !(isLast && waits))
      faults.push(`calls ${open.join(', ')} of reply ${reply?.id} have no result`);
    open = [];
  };
  for (const body of inOrder) {
    if (body.type === 'tool') {
      if (open.includes(body.tool_call_id)) open = open.filter((id) => id !== body.tool_call_id);
      else faults.push(`result ${body.id} of call ${body.tool_call_id} is a second one, or its call is missing`);
      continue;
    }
    close(false);
    reply = body.type === 'ai' ? body : null;
    open = reply?.tool_calls.map(({ id }) => id) ?? [];
  }
  close(true);
  return faults;
}

export const settledLedger: Rule = {
  name: 'ledger-pending',
  promise: 'When a run that nobody stopped has ended, every call in its ledger is done.',
  check({ runs, toolCalls, accepted, threads }) {
    const ended = new Map(runs.filter(({ admission }) => admission === 'ended').map((run) => [run.runId, run]));
    const excused = new Set(
      accepted
        .filter(({ cancelled, mayFail }) => cancelled !== undefined || mayFail === true)
        .map(({ runId }) => runId),
    );
    const waiting = new Set(threads.filter(({ waitsFor }) => waitsFor.length > 0).map(({ threadId }) => threadId));
    return toolCalls.flatMap(({ runId, turn, toolCallId, name, state }): Finding[] => {
      const run = ended.get(runId);
      if (run === undefined || state === 'done' || excused.has(runId) || waiting.has(run.threadId)) return [];
      return [{ subject: runId, message: `${name} of turn ${turn} (${toolCallId}) is still ${state}` }];
    });
  },
};
