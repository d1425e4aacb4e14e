import type { JsonObject } from '../contracts';
import type { Queryable } from './database';

export interface ThreadCopy {
  owner: string;
  sourceId: string;
  /** Id of the copy. */
  threadId: string;
  metadata: JsonObject;
  /** How far the copy goes; without it, everything. */
  watermark?: number;
  /** Channels that stay behind, because they name things of the source. */
  withoutChannels?: readonly string[];
}

/**
 * Copies a thread's log, checkpoints and visible journal up to a watermark. Checkpoint ids stay the same: they are
 * unique within a thread. False where the source is not the owner's.
 */
export async function copyThread(client: Queryable, copy: ThreadCopy): Promise<boolean> {
  const { rows } = await client.query<{ log_seq: number }>(
    'select log_seq from threads where thread_id = $1 and owner = $2 for share',
    [copy.sourceId, copy.owner],
  );
  const source = rows[0];
  if (source === undefined) return false;
  const watermark = Math.min(copy.watermark ?? source.log_seq, source.log_seq);
  await client.query(
    `insert into threads (thread_id, owner, metadata, log_seq, journal_seq, head_checkpoint)
     select $2, owner, $3, $4, journal_seq, (
       select checkpoint_id from checkpoints where thread_id = $1 and watermark <= $4 order by watermark desc limit 1)
     from threads where thread_id = $1`,
    [copy.sourceId, copy.threadId, copy.metadata, watermark],
  );
  await copyVersions(client, copy, watermark);
  await client.query(
    `insert into checkpoints (thread_id, watermark, checkpoint_id, parent_id, run_id, step, source, node, next,
                              interrupts, error, metadata, created_at)
     select $2, watermark, checkpoint_id, parent_id, run_id, step, source, node, next, interrupts, error, metadata,
            created_at
     from checkpoints where thread_id = $1 and watermark <= $3`,
    [copy.sourceId, copy.threadId, watermark],
  );
  await copyJournal(client, copy, watermark);
  return true;
}

/** Versions that appeared up to the watermark; what replaced them later has not happened in the copy. */
async function copyVersions(client: Queryable, copy: ThreadCopy, watermark: number): Promise<void> {
  const parameters = [copy.sourceId, copy.threadId, watermark];
  await client.query(
    `insert into thread_messages (thread_id, message_id, position, since, until, run_id, body)
     select $2, message_id, position, since, case when until <= $3 then until end, run_id, body
     from thread_messages where thread_id = $1 and since <= $3`,
    parameters,
  );
  await client.query(
    `insert into thread_channels (thread_id, channel, since, until, value)
     select $2, channel, since, case when until <= $3 then until end, value
     from thread_channels where thread_id = $1 and since <= $3 and not channel = any($4::text[])`,
    [...parameters, [...(copy.withoutChannels ?? [])]],
  );
}

/** Only what a person sees: rows of replaced runs would come back to light, because their marks stay with the source. */
async function copyJournal(client: Queryable, copy: ThreadCopy, watermark: number): Promise<void> {
  await client.query(
    `insert into run_journal (thread_id, seq, run_id, event_type, category, content, message_id, message_since,
                              metadata, created_at)
     select $2, j.seq, j.run_id, j.event_type, j.category, j.content, j.message_id, j.message_since, j.metadata,
            j.created_at
     from run_journal j left join runs r on r.run_id = j.run_id
     where j.thread_id = $1 and j.category = 'message' and j.message_since <= $3 and not coalesce(r.superseded, false)`,
    [copy.sourceId, copy.threadId, watermark],
  );
}
