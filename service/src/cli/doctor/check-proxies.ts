// Checks the settings that determine client addresses, links and rate limits. Pure function.

import { isLoopback, type ServeSettings } from '../../config.ts';
import { ok, type Verdict, warning } from '../../health/check.ts';

const EVERY_ADDRESS = ['0.0.0.0/0', '::/0'];

export function checkProxies({ host, publicUrl, trustedProxies }: ServeSettings): Verdict {
  const everyAddress = trustedProxies.find((range) => EVERY_ADDRESS.includes(range));
  if (everyAddress !== undefined) {
    return warning(
      `--trusted-proxies ${everyAddress} lets every client forge its address`,
      'list only the addresses of your proxies, because rate limits depend on client addresses',
    );
  }
  if (publicUrl?.startsWith('http:') && !isLoopback(new URL(publicUrl).hostname)) {
    return warning(
      `--public-url ${publicUrl}: tokens are sent unencrypted`,
      'terminate TLS in a proxy, and set its https URL: docs/operations/proxies.md',
    );
  }
  if (publicUrl !== undefined && trustedProxies.length === 0) {
    return warning(
      "--public-url is set, but no proxy is trusted: all clients share the proxy's address and its rate limit",
      'list the proxy in --trusted-proxies',
    );
  }
  if (publicUrl === undefined && trustedProxies.length === 0 && !isLoopback(host)) {
    return warning(
      `listens on ${host} without a proxy: clients connect without TLS`,
      'set up a proxy with --trusted-proxies and --public-url: docs/operations/proxies.md',
    );
  }
  if (trustedProxies.length === 0) return ok('none; only this machine can connect');
  const links = publicUrl === undefined ? "with the proxy's X-Forwarded-Proto" : `with ${publicUrl}`;
  return ok(`${trustedProxies.join(', ')}; links start ${links}`);
}
