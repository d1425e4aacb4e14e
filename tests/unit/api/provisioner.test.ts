import { goesDirect } from '../../../api/health/provisioner';

test.each([
  'localhost',
  'api.localhost',
  '127.0.0.1',
  '127.9.9.9',
  '[::1]',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.1.1',
  '[fe80::1]',
  '[fd00::1]',
  '[::ffff:10.0.0.1]',
  'provisioner',
  'provisioner.sandboxes.svc',
  'provisioner.sandboxes.svc.cluster.local',
  'provisioner.sandboxes.svc.cluster.local.',
  'host.docker.internal',
])('no proxy comes between this server and a provisioner at %s', (host) => {
  expect(goesDirect(host)).toBe(true);
});

test.each(['provisioner.example.com', '93.184.216.34', '172.32.0.1', '[2606:2800:220:1::1]', 'local.example.com'])(
  'the proxy settings of the process hold for a provisioner at %s',
  (host) => {
    expect(goesDirect(host)).toBe(false);
  },
);
