import { createPoints } from '../../../faults/links/points';
import { createPostgresInspector } from '../../../faults/links/postgres-link';

const text = (value: string): Buffer => Buffer.from(`${value}\0`);

function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const size = Buffer.alloc(4);
  size.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), size, body]);
}

function startup(): Buffer {
  const body = Buffer.from('\0\x03\0\0user\0nobody\0\0');
  const size = Buffer.alloc(4);
  size.writeInt32BE(body.length + 4);
  return Buffer.concat([size, body]);
}

function bind(statement: string, parameter: string): Buffer {
  const value = Buffer.from(parameter);
  const head = Buffer.alloc(8);
  // No format codes, one parameter, its size.
  head.writeInt16BE(0, 0);
  head.writeInt16BE(1, 2);
  head.writeInt32BE(value.length, 4);
  return message('B', text(''), text(statement), head, value, Buffer.alloc(2));
}

const READY = message('Z', Buffer.from('I'));
const DONE = message('C', text('SELECT 1'));
const REPLY = JSON.stringify({ turn: {}, usage: {} });

const reply = Buffer.concat([
  message('P', text('commit-step'), text('select commit_step($1::jsonb) as result'), Buffer.alloc(2)),
  bind('commit-step', REPLY),
  message('E', text(''), Buffer.alloc(4)),
  message('S'),
]);

/** The same bytes in pieces of so many. */
function* pieces(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('a line to PostgreSQL', () => {
  it.each([1, 2, 7, 1000])('hands on every byte, also where it comes in pieces of %i', (size) => {
    const inspector = createPostgresInspector(createPoints('worker-1'));
    const sent = Buffer.concat([startup(), message('p', text('secret')), reply, message('Q', text('select 1'))]);
    const received = [...pieces(sent, size)].map((chunk) => inspector.fromClient(chunk).bytes);
    expect(Buffer.concat(received)).toEqual(sent);
    const answered = Buffer.concat([DONE, READY, DONE, READY]);
    const heard = [...pieces(answered, size)].map((chunk) => inspector.fromServer(chunk).bytes);
    expect(Buffer.concat(heard)).toEqual(answered);
  });

  it('holds a whole statement before the server has any of it', async () => {
    const points = createPoints('worker-1');
    const inspector = createPostgresInspector(points);
    inspector.fromClient(startup());
    const trap = points.arm({ operation: 'postgres:commit of a reply', moment: 'before' });
    const { bytes, held } = inspector.fromClient(reply);
    await trap.reached;
    expect(bytes).toHaveLength(0);
    expect(held?.bytes).toEqual(reply);
  });

  it('holds the answer when the server has committed and before the client can know', async () => {
    const points = createPoints('worker-1');
    const inspector = createPostgresInspector(points);
    inspector.fromClient(startup());
    const trap = points.arm({ operation: 'postgres:commit of a reply', moment: 'after' });
    expect(inspector.fromClient(reply).held).toBeUndefined();
    const { bytes, held } = inspector.fromServer(Buffer.concat([DONE, READY]));
    await trap.reached;
    expect(bytes).toEqual(DONE);
    expect(held?.bytes).toEqual(READY);
  });

  it('knows a prepared statement by its name when it is used again', async () => {
    const points = createPoints('worker-1');
    const inspector = createPostgresInspector(points);
    inspector.fromClient(Buffer.concat([startup(), reply]));
    inspector.fromServer(Buffer.concat([DONE, READY]));
    inspector.fromClient(Buffer.concat([bind('commit-step', REPLY), message('S')]));
    expect(points.seen.get('postgres:commit of a reply')).toBe(2);
  });
});
