/** Reads server-sent events off a real connection, frame by frame. */

export interface Frame {
  event: string;
  data: unknown;
  id: string | undefined;
}

export interface SseConnection {
  response: Response;
  /** Frames that have come so far. */
  frames: Frame[];
  /** Comments that have come so far, with the time of each. */
  comments: Array<{ text: string; at: number }>;
  /** Waits until the predicate holds for what has come. */
  until(predicate: (frames: Frame[]) => boolean, timeoutMs?: number): Promise<Frame[]>;
  /** Waits until the server closes the stream; rejects where the connection breaks. */
  ended(): Promise<Frame[]>;
  /** Hangs up. */
  close(): void;
}

export async function openSse(url: string, init: RequestInit = {}): Promise<SseConnection> {
  const controller = new AbortController();
  const response = await fetch(url, { ...init, signal: controller.signal });
  const frames: Frame[] = [];
  const comments: SseConnection['comments'] = [];
  const watchers = new Set<() => void>();
  let rest = '';
  const take = (text: string): void => {
    rest += text;
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const block = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (block.startsWith(':')) comments.push({ text: block, at: Date.now() });
      else frames.push(toFrame(block));
    }
    watchers.forEach((watcher) => watcher());
  };
  const done = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) take(decoder.decode(chunk as Uint8Array, { stream: true }));
  })();
  done.catch(() => undefined);

  return {
    response,
    frames,
    comments,
    until: (predicate, timeoutMs = 10_000) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(look);
          reject(new Error(`Waited in vain; frames so far: ${frames.map((frame) => frame.event).join(' ')}`));
        }, timeoutMs);
        const look = (): void => {
          if (!predicate(frames)) return;
          clearTimeout(timer);
          watchers.delete(look);
          resolve(frames);
        };
        watchers.add(look);
        look();
      }),
    async ended() {
      await done;
      return frames;
    },
    close: () => controller.abort(),
  };
}

function toFrame(block: string): Frame {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  const id = fields.get('id');
  return { event: fields.get('event') ?? '', data: JSON.parse(fields.get('data') ?? 'null'), id };
}
