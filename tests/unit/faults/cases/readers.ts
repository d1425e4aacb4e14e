import type { Evidence } from '../../../faults/checker';
import type { BreakingCase } from '../breaking-case';
import { only } from '../sound-evidence';

type Frames = Evidence['subscriptions'][number]['connections'][number]['frames'];

function framesOf(evidence: Evidence, name: string, connection = 0): Frames {
  const frames = only(evidence.subscriptions, ({ reader }) => reader === name).connections[connection]?.frames;
  if (frames === undefined) throw new Error('the reader has no such connection');
  return frames;
}

export const readerCases: BreakingCase[] = [
  {
    rule: 'same-frames',
    title: 'two APIs show another content under one id',
    break: (evidence) =>
      void (only(framesOf(evidence, 'words only'), ({ id }) => id !== null).data = '{"part":"other"}'),
    says: /steady at api-1 read .* words only at api-2 read/,
  },
  {
    rule: 'same-frames',
    title: 'a frame has another name for a reader who came later',
    break: (evidence) => void (only(framesOf(evidence, 'resuming', 1), ({ id }) => id !== null).event = 'updates'),
    says: /frame \d+-3 differs/,
  },
  {
    rule: 'seamless-streams',
    title: 'a resumed stream left out the frame after the last id',
    break: (evidence) => void framesOf(evidence, 'resuming', 1).shift(),
    says: /resuming, connection 2 at api-2: frame 1 after \d+-2 is \d+-4, due was \d+-3/,
  },
  {
    rule: 'seamless-streams',
    title: 'a resumed stream repeated the frame of the last id',
    break: (evidence) => {
      const [repeated] = framesOf(evidence, 'resuming', 0).slice(-1);
      if (repeated !== undefined) framesOf(evidence, 'resuming', 1).unshift(repeated);
    },
    says: /frame 1 after \d+-2 is \d+-2, due was \d+-3/,
  },
  {
    rule: 'seamless-streams',
    title: 'a stream left out a frame in its middle',
    break: (evidence) => void framesOf(evidence, 'steady').splice(2, 1),
    says: /frame 3 after the beginning/,
  },
  {
    rule: 'seamless-streams',
    title: 'a stream ended before its last frame',
    break: (evidence) => void framesOf(evidence, 'steady').splice(4, 1),
    says: /the end came 1 frames too early/,
  },
  {
    rule: 'seamless-streams',
    title: 'a stream went on behind its end',
    break: (evidence) => void framesOf(evidence, 'steady').push({ event: 'end', id: null, data: 'null' }),
    says: /1 frames after the end/,
  },
  {
    rule: 'seamless-streams',
    title: 'a reader was told that the log is gone',
    break: (evidence) => void (only(framesOf(evidence, 'steady'), ({ id }) => id === null).event = 'gap'),
    says: /a frame gap without an id/,
  },
  {
    rule: 'seamless-streams',
    title: 'a reader got a frame of a mode that it had not asked for',
    break: (evidence) => {
      const values = only(framesOf(evidence, 'steady'), ({ event }) => event === 'values');
      framesOf(evidence, 'words only').splice(3, 0, values);
    },
    says: /words only, connection 1 at api-2: frame 4/,
  },
];
