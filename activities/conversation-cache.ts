import type { Message } from '../contracts';
import type { CommitResult, MessageChange, StepFacts, TurnStore } from '../db';

/**
 * The messages of threads that this worker works on, kept between steps so that a step reads only what is new: the cost
 * of a step must not grow with the length of its conversation. Always checked against the log's sequence.
 */
export interface ConversationCache {
  load(facts: Pick<StepFacts, 'threadId' | 'logSeq' | 'threadCreatedAt'>): Promise<readonly Message[]>;
  /** Adds a message that this worker has committed, so that its next step need not read it back. */
  committed(thread: Pick<StepFacts, 'threadId' | 'threadCreatedAt'>, commit: CommitResult, message: Message): void;
}

interface Entry {
  position: number;
  message: Message;
}

interface Conversation {
  createdAt: string;
  seq: number;
  byId: Map<string, Entry>;
  ordered: Message[];
}

/** Threads kept; the least recently used goes first. */
const MAX_THREADS = 64;

export function createConversationCache(turns: TurnStore, maxThreads = MAX_THREADS): ConversationCache {
  const conversations = new Map<string, Conversation>();

  return {
    async load(facts) {
      const known = conversations.get(facts.threadId);
      const usable = known !== undefined && known.createdAt === facts.threadCreatedAt && known.seq <= facts.logSeq;
      const conversation = usable ? known : { createdAt: facts.threadCreatedAt, seq: -1, byId: new Map(), ordered: [] };
      if (conversation.seq < facts.logSeq) {
        const changes = await turns.changesSince(facts.threadId, conversation.seq);
        apply(conversation, changes);
        // Rows that were committed after `logSeq` was read are applied again next time, which changes nothing.
        conversation.seq = facts.logSeq;
      }
      conversations.delete(facts.threadId);
      conversations.set(facts.threadId, conversation);
      for (const oldest of conversations.keys()) {
        if (conversations.size <= maxThreads) break;
        conversations.delete(oldest);
      }
      return conversation.ordered;
    },
    committed({ threadId, threadCreatedAt }, { seq, position }, message) {
      const known = conversations.get(threadId);
      // A commit of somebody else in between has to be read first.
      if (known === undefined || known.createdAt !== threadCreatedAt || known.seq !== seq - 1) return;
      if (position !== null) apply(known, [{ messageId: message.id, position, message }]);
      known.seq = seq;
    },
  };
}

function apply(conversation: Conversation, changes: readonly MessageChange[]): void {
  const last = conversation.ordered.at(-1);
  let lastPosition = last === undefined ? -1 : (conversation.byId.get(last.id)?.position ?? -1);
  let sorted = true;
  const ordered = [...conversation.ordered];
  for (const { messageId, position, message } of changes) {
    if (message === null) {
      conversation.byId.delete(messageId);
      sorted = false;
      continue;
    }
    const isNew = !conversation.byId.has(messageId);
    conversation.byId.set(messageId, { position, message });
    if (isNew && sorted && position > lastPosition) {
      ordered.push(message);
      lastPosition = position;
    } else {
      sorted = false;
    }
  }
  conversation.ordered = sorted ? ordered : sortedMessages(conversation);
}

function sortedMessages(conversation: Conversation): Message[] {
  const entries = [...conversation.byId.entries()].sort(([, left], [, right]) => left.position - right.position);
  conversation.byId = new Map(entries);
  return entries.map(([, entry]) => entry.message);
}
