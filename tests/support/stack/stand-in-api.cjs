/** Stands in for the API: answers with what it was given. */
const { createServer } = require('node:http');

const server = createServer((request, response) => {
  const { DATABASE_URL, TEMPORAL_ADDRESS, DEER_FLOW_HOME } = process.env;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ pid: process.pid, path: request.url, DATABASE_URL, TEMPORAL_ADDRESS, DEER_FLOW_HOME }));
});
server.listen(Number(process.env.GATEWAY_PORT), process.env.GATEWAY_HOST, () => {
  process.send?.({ type: 'ready', port: server.address().port });
});
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
