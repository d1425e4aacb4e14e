/** Stands in for the API: tells what it was given, and answers every question with the same words. */
const { createServer } = require('node:http');

const RUN = '/api/threads/thread-1/runs/run-1';

function answerTo(url) {
  if (url.endsWith('/runs/run-1')) return { status: 'success', total_tokens: 7 };
  if (url.endsWith('/threads')) return { thread_id: 'thread-1' };
  const { DATABASE_URL, TEMPORAL_ADDRESS, DEER_FLOW_HOME } = process.env;
  return { pid: process.pid, DATABASE_URL, TEMPORAL_ADDRESS, DEER_FLOW_HOME };
}

const server = createServer((request, response) => {
  if (request.url.endsWith('/runs/stream')) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-location': RUN });
    const message = { type: 'AIMessageChunk', id: 'm1', content: 'Hello from the stand-in.' };
    response.end(`event: messages\ndata: ${JSON.stringify([message, {}])}\nid: 1-1\n\nevent: end\ndata: null\n\n`);
    return;
  }
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(answerTo(request.url)));
});
server.listen(Number(process.env.GATEWAY_PORT), process.env.GATEWAY_HOST, () => {
  process.send?.({ type: 'ready', port: server.address().port });
});
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
