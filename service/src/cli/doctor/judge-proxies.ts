// Checks the settings that determine client addresses, links and rate limits. Pure function.

import { isLoopback, type ServeSettings } from '../../config.ts';
import { type Check, ok, warning } from './check.ts';

const EVERY_ADDRESS = ['0.0.0.0/0', '::/0'];

export function judgeProxies({ host, publicUrl, trustedProxies }: ServeSettings): Check {
  const check = 'proxies';
  const everyAddress = trustedProxies.find((range) => EVERY_ADDRESS.includes(range));
  if (everyAddress !== undefined) {
    return warning(
      check,
      `--trusted-proxies ${everyAddress} lets every client forge its address`,
      'list only the addresses of your proxies, because rate limits depend on client addresses',
    );
  }
  if (publicUrl?.startsWith('http:') && !isLoopback(new URL(publicUrl).hostname)) {
    return warning(
      check,
      `--public-url ${publicUrl}: tokens are sent unencrypted`,
      'terminate TLS in a proxy, and set its https URL: docs/operations/proxies.md',
    );
  }
  if (publicUrl !== undefined && trustedProxies.length === 0) {
    return warning(
      check,
      "--public-url is set, but no proxy is trusted: all clients share the proxy's address and its rate limit",
      'list the proxy in --trusted-proxies',
    );
  }
  if (publicUrl === undefined && trustedProxies.length === 0 && !isLoopback(host)) {
    return warning(
      check,
      `listens on ${host} without a proxy: clients connect without TLS`,
      'set up a proxy with --trusted-proxies and --public-url: docs/operations/proxies.md',
    );
  }
  if (trustedProxies.length === 0) return ok(check, 'none; only this machine can connect');
  const links = publicUrl === undefined ? "with the proxy's X-Forwarded-Proto" : `with ${publicUrl}`;
  return ok(check, `${trustedProxies.join(', ')}; links start ${links}`);
}
