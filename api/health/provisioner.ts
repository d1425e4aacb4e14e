/** Whether the service that makes sandboxes answers. */
import { Agent as HttpAgent, get as httpGet } from 'node:http';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** @param address The setting `sandbox.provisioner_url`. Rejects where nothing answers. */
export async function isProvisionerUp(address: string, signal: AbortSignal): Promise<boolean> {
  const url = new URL(`${address.replace(/\/+$/, '')}/health`);
  if (goesDirect(url.hostname)) return isGood(await directStatus(url, signal));
  // A proxy, where the process has one.
  const response = await fetch(url, { signal, redirect: 'manual' });
  await response.body?.cancel();
  return isGood(response.status);
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

/** With an agent of its own: that of the process may have a proxy. */
function directStatus(url: URL, signal: AbortSignal): Promise<number> {
  const isPlain = url.protocol === 'http:';
  const agent = isPlain ? new HttpAgent() : new HttpsAgent();
  const get = isPlain ? httpGet : httpsGet;
  return new Promise<number>((resolve, reject) => {
    const request = get(url, { agent, signal }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('error', reject);
  }).finally(() => agent.destroy());
}

/** Loopback, private and link-local addresses, and names that only this machine, cluster or network knows. */
export function goesDirect(hostname: string): boolean {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  if (isIP(host) !== 0) return ipaddr.process(host).range() !== 'unicast';
  return !host.includes('.') || /\.(localhost|local|svc|internal)$/.test(host);
}
