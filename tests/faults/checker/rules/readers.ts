import type { RunEventKind } from '../../../../contracts';
import { wantsKind } from '../../../../core/stream-events';
import type { EventFact, Evidence, Finding, Rule, SubscriberConnection, Subscription } from '../evidence';
import { groupBy } from '../grouping';

const END = 'end';

export const sameFrames: Rule = {
  name: 'same-frames',
  promise: 'Whoever reads a run, at whichever API and whenever, reads the same frame under the same id.',
  check({ subscriptions }) {
    return [...groupBy(subscriptions, ({ runId }) => runId)].flatMap(([runId, readers]) => {
      const differing = differences(readers);
      const [first] = differing;
      if (first === undefined) return [];
      const others = differing.length > 1 ? ` (and ${differing.length - 1} more)` : '';
      return [{ subject: runId, message: `${first}${others}` }];
    });
  },
};

function differences(readers: readonly Subscription[]): string[] {
  const seen = new Map<string, { text: string; by: string }>();
  return readers.flatMap(({ reader, connections }) =>
    connections.flatMap(({ api, frames }) =>
      frames.flatMap(({ event, id, data }) => {
        if (id === null) return [];
        const text = `${event} ${data}`;
        const by = `${reader} at ${api}`;
        const earlier = seen.get(id);
        if (earlier === undefined) seen.set(id, { text, by });
        return earlier === undefined || earlier.text === text ? [] : [differenceText(id, earlier, { text, by })];
      }),
    ),
  );
}

function differenceText(id: string, one: { text: string; by: string }, other: { text: string; by: string }): string {
  const place = [...one.text].findIndex((character, index) => other.text[index] !== character);
  const from = Math.max(0, place < 0 ? one.text.length - 40 : place - 40);
  const excerpt = (text: string): string => JSON.stringify(text.slice(from, from + 120));
  return `frame ${id} differs: ${one.by} read ${excerpt(one.text)}, ${other.by} read ${excerpt(other.text)}`;
}

export const seamlessStreams: Rule = {
  name: 'seamless-streams',
  promise: 'A stream, from its beginning or resumed, has every event that comes next, none twice, and its end last.',
  check({ subscriptions, events }) {
    const byRun = groupBy(events, ({ runId }) => runId);
    return subscriptions.flatMap((subscription) =>
      subscription.connections.flatMap((connection, place): Finding[] => {
        const fault = connectionFault(subscription, connection, byRun.get(subscription.runId) ?? []);
        const who = `${subscription.reader}, connection ${place + 1} at ${connection.api}`;
        return fault === null ? [] : [{ subject: subscription.runId, message: `${who}: ${fault}` }];
      }),
    );
  },
};

function connectionFault(
  { modes }: Subscription,
  { lastEventId, frames }: SubscriberConnection,
  events: Evidence['events'],
): string | null {
  const after = lastEventId === null ? -1 : numberOf(lastEventId);
  const due = events.filter(
    ({ number, kind }) => number > after && kind !== 'run-end' && wantsKind(modes, kind as RunEventKind),
  );
  const stop = frames.findIndex(({ id }) => id === null);
  const read = stop < 0 ? frames : frames.slice(0, stop);
  for (const [place, { id }] of read.entries()) {
    const event = due[place];
    if (id === (event === undefined ? null : idOf(event))) continue;
    return `frame ${place + 1} after ${lastEventId ?? 'the beginning'} is ${id}, due was ${event === undefined ? 'the end' : idOf(event)}`;
  }
  if (stop < 0) return null;
  if (frames[stop]?.event !== END) return `a frame ${frames[stop]?.event} without an id`;
  if (stop !== frames.length - 1) return `${frames.length - 1 - stop} frames after the end`;
  return due.length === read.length ? null : `the end came ${due.length - read.length} frames too early`;
}

function idOf({ at, number }: EventFact): string {
  return `${at}-${number}`;
}

function numberOf(id: string): number {
  return Number(id.split('-')[1]);
}
