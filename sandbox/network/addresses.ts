/** Which addresses are public. */
import ipaddr from 'ipaddr.js';

const PRIVATE_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map((range) => ipaddr.IPv4.parseCIDR(range));

/** Only this part of IPv6 is routed on the public internet, without the ranges below it. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
const PRIVATE_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map((range) =>
  ipaddr.IPv6.parseCIDR(range),
);

/** Names that mean this machine or a cloud's metadata service, whatever they resolve to. */
const REFUSED_HOSTS = new Set(['localhost', 'metadata.google.internal']);

export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (!ipaddr.isValid(plain)) return false;
  const parsed = ipaddr.process(plain);
  if (parsed instanceof ipaddr.IPv4) return !PRIVATE_IPV4.some((range) => parsed.match(range));
  return (
    parsed instanceof ipaddr.IPv6 && parsed.match(PUBLIC_IPV6) && !PRIVATE_IPV6.some((range) => parsed.match(range))
  );
}

export function isRefusedHost(host: string): boolean {
  const name = host.trim().replace(/\.$/, '').toLowerCase();
  return REFUSED_HOSTS.has(name) || name.endsWith('.localhost');
}
