import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TcpLink } from '../../../faults/links/tcp-link';
import { startTcpLink } from '../../../faults/links/tcp-link';

let echo: Server;
let link: TcpLink;
const sockets: Socket[] = [];

beforeEach(async () => {
  echo = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  const { port } = echo.address() as AddressInfo;
  link = await startTcpLink({ targetPort: () => port });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await link.close();
  await new Promise<void>((resolve) => echo.close(() => resolve()));
});

async function open(): Promise<Socket> {
  const socket = connect(link.port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

async function roundTrip(socket: Socket, text: string): Promise<void> {
  const heard = reading(socket, text.length);
  socket.write(text);
  expect(await heard).toBe(text);
}

async function reading(socket: Socket, length: number): Promise<string> {
  let heard = '';
  while (heard.length < length) heard += String(((await once(socket, 'data')) as [Buffer])[0]);
  return heard;
}

/** The error with which a connection breaks. */
async function failureOf(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code)));
}

describe('a line between two processes', () => {
  it('hands on what is sent, also a lot of it', async () => {
    await roundTrip(await open(), 'x'.repeat(5_000_000));
  });

  it('is late by its latency in each round trip, however many pieces there are', async () => {
    const socket = await open();
    link.latencyMs = 200;
    const begun = performance.now();
    const heard = reading(socket, 'one two three four '.length);
    for (const word of ['one ', 'two ', 'three ', 'four ']) {
      socket.write(word);
      await delay(20);
    }
    expect(await heard).toBe('one two three four ');
    const took = performance.now() - begun;
    expect(took).toBeGreaterThan(150);
    expect(took).toBeLessThan(600);
  });

  it('resets its connections when it is cut, and takes new ones', async () => {
    const socket = await open();
    await roundTrip(socket, 'hello');
    const failure = failureOf(socket);
    link.cut();
    expect(await failure).toBe('ECONNRESET');
    await roundTrip(await open(), 'again');
    expect(link.connections).toBe(1);
  });

  it('says nothing while it is silent, and loses nothing', async () => {
    const socket = await open();
    link.silent = true;
    const answered = roundTrip(socket, 'hello');
    await expect(Promise.race([answered, delay(200, 'silence')])).resolves.toBe('silence');
    link.silent = false;
    await answered;
  });

  it('resets new connections while it refuses', async () => {
    link.refusing = true;
    const socket = connect(link.port, '127.0.0.1');
    expect(await failureOf(socket)).toBe('ECONNRESET');
  });

  it('breaks off when the server hangs up, without harm to others', async () => {
    const socket = await open();
    await roundTrip(socket, 'hello');
    const accepted = once(echo, 'connection');
    const second = await open();
    const closed = once(second, 'close');
    const [atServer] = (await accepted) as [Socket];
    atServer.destroy();
    await closed;
    await roundTrip(socket, 'still there');
  });
});
