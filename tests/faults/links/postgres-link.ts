/** A link to PostgreSQL that knows which statement passes, so that a fault can lie before or after its commit. */
import type { Points } from './points';
import type { Inspected, Inspector, TcpLink } from './tcp-link';
import { startTcpLink } from './tcp-link';
import type { Statement } from './postgres-operations';
import { createTransactionNames, operationOf } from './postgres-operations';

export function startPostgresLink(targetPort: () => number, points: Points): Promise<TcpLink> {
  return startTcpLink({ targetPort, inspect: () => createPostgresInspector(points) });
}

const HEADER_BYTES = 5;
const STARTUP_HEADER_BYTES = 4;

/**
 * Follows one connection. A client sends a group of messages that ends in Sync, or a simple query, and then waits for
 * ReadyForQuery: that is one operation. Only plain connections (no TLS) can be read.
 */
export function createPostgresInspector(points: Points): Inspector {
  const client = createFramer(true);
  const server = createFramer(false);
  const texts = new Map<string, string>();
  const names = createTransactionNames();
  let statement: Statement | null = null;
  let operation: string | null = null;
  let group: Buffer[] = [];

  function fromClient(chunk: Buffer): Inspected {
    const ready: Buffer[] = [];
    let held: Inspected['held'];
    const put = (frames: Buffer[]): void => void (held === undefined ? ready : heldFrames).push(...frames);
    const heldFrames: Buffer[] = [];
    for (const frame of client(chunk)) {
      const type = frame.startup ? '' : String.fromCharCode(frame.bytes[0] ?? 0);
      if (!'PBDECSHQ'.includes(type) || type === '') {
        put([frame.bytes]);
        continue;
      }
      group.push(frame.bytes);
      if (type === 'P') rememberText(texts, frame.bytes);
      if (type === 'B') statement = boundStatement(texts, frame.bytes);
      if (type === 'Q') statement = { name: '', text: textAt(frame.bytes, HEADER_BYTES), parameters: [] };
      if (!'SHQ'.includes(type)) continue;
      if (type !== 'H') {
        operation = statement === null ? null : names.next(operationOf(statement));
        statement = null;
        const fate = operation === null ? undefined : points.meet({ operation, moment: 'before' });
        if (fate !== undefined && held === undefined) held = { bytes: Buffer.alloc(0), fate };
      }
      put(group);
      group = [];
    }
    if (held !== undefined) held.bytes = Buffer.concat(heldFrames);
    return held === undefined ? { bytes: Buffer.concat(ready) } : { bytes: Buffer.concat(ready), held };
  }

  function fromServer(chunk: Buffer): Inspected {
    const ready: Buffer[] = [];
    const heldFrames: Buffer[] = [];
    let fate: NonNullable<Inspected['held']>['fate'] | undefined;
    for (const frame of server(chunk)) {
      // The client goes on at ReadyForQuery, and not before.
      if (frame.bytes[0] === 0x5a && operation !== null) {
        fate ??= points.meet({ operation, moment: 'after' });
        operation = null;
      }
      (fate === undefined ? ready : heldFrames).push(frame.bytes);
    }
    const bytes = Buffer.concat(ready);
    return fate === undefined ? { bytes } : { bytes, held: { bytes: Buffer.concat(heldFrames), fate } };
  }

  return { fromClient, fromServer };
}

interface FramedBytes {
  bytes: Buffer;
  startup: boolean;
}

/** Cuts a byte stream into whole messages. The first one of a client has no type byte. */
function createFramer(beginsUntyped: boolean): (chunk: Buffer) => FramedBytes[] {
  let rest: Buffer = Buffer.alloc(0);
  let startup = beginsUntyped;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const frames: FramedBytes[] = [];
    for (;;) {
      const typeBytes = startup ? 0 : 1;
      if (rest.length < STARTUP_HEADER_BYTES + typeBytes) return frames;
      const size = rest.readInt32BE(typeBytes) + typeBytes;
      if (rest.length < size) return frames;
      frames.push({ bytes: rest.subarray(0, size), startup });
      rest = rest.subarray(size);
      startup = false;
    }
  };
}

function textAt(bytes: Buffer, start: number): string {
  return bytes.toString('utf8', start, bytes.indexOf(0, start));
}

function rememberText(texts: Map<string, string>, bytes: Buffer): void {
  const name = textAt(bytes, HEADER_BYTES);
  texts.set(name, textAt(bytes, HEADER_BYTES + Buffer.byteLength(name) + 1));
}

/** Bind: portal, statement, formats of the parameters, parameters. */
function boundStatement(texts: Map<string, string>, bytes: Buffer): Statement {
  let at = bytes.indexOf(0, HEADER_BYTES) + 1;
  const name = textAt(bytes, at);
  at += Buffer.byteLength(name) + 1;
  at += 2 + 2 * bytes.readInt16BE(at);
  const count = bytes.readInt16BE(at);
  at += 2;
  const parameters: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const size = bytes.readInt32BE(at);
    at += 4;
    parameters.push(size < 0 ? '' : bytes.toString('utf8', at, at + size));
    at += Math.max(0, size);
  }
  return { name, text: texts.get(name) ?? '', parameters };
}
