// Judges the settings that say how callers reach the service: addresses, links and limits depend on them. Pure.

import { isLoopback, type ServeSettings } from '../../config.ts';
import { type Check, ok, warning } from './check.ts';

type ProxySettings = Pick<ServeSettings, 'host' | 'publicUrl' | 'trustedProxies'>;

const ANYBODY = ['0.0.0.0/0', '::/0'];

export function judgeProxies({ host, publicUrl, trustedProxies }: ProxySettings): Check {
  const check = 'proxies';
  const anybody = trustedProxies.find((range) => ANYBODY.includes(range));
  if (anybody !== undefined) {
    return warning(
      check,
      `--trusted-proxies ${anybody} believes what anybody says of their address`,
      'name the addresses of the proxies alone: limits go by the address',
    );
  }
  if (publicUrl?.startsWith('http:') && !isLoopback(new URL(publicUrl).hostname)) {
    return warning(
      check,
      `--public-url ${publicUrl}: tokens are sent in the clear`,
      'let a proxy speak TLS, and name its https URL: docs/operations/proxies.md',
    );
  }
  if (publicUrl !== undefined && trustedProxies.length === 0) {
    return warning(
      check,
      '--public-url is set, but no proxy is trusted: all callers have its address, and share its limits',
      'name the proxy in --trusted-proxies',
    );
  }
  if (publicUrl === undefined && trustedProxies.length === 0 && !isLoopback(host)) {
    return warning(
      check,
      `listens on ${host} without a proxy that it knows: callers speak HTTP without TLS`,
      'put a proxy before it, with --trusted-proxies and --public-url: docs/operations/proxies.md',
    );
  }
  if (trustedProxies.length === 0) return ok(check, 'none: callers are on this machine');
  const links = publicUrl === undefined ? 'by X-Forwarded-Proto, which they must set' : `with ${publicUrl}`;
  return ok(check, `${trustedProxies.join(', ')}; links start ${links}`);
}
