// Checks the machine and how clients reach it: the limit on open files, the ports, and the settings that determine client
// addresses, links and rate limits.

import { isLoopback, type ServeSettings } from '../../config.ts';
import { fault, ok, type Verdict, warning } from '../../health/check.ts';
import { findPort, type PortAddress, urlOf } from '../node/listen.ts';
import { livenessProblem } from './liveness-problem.ts';

/** Enough for connections from a few proxies, the database and the log. */
const OPEN_FILES_MIN = 4_096;
/** The address at which this machine reaches a server that listens on all addresses. */
const THIS_MACHINE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

const EVERY_ADDRESS = ['0.0.0.0/0', '::/0'];

export function checkOpenFiles(max: number | undefined): Verdict {
  if (max === undefined) return ok('there is no limit, or this system does not report it');
  if (max < OPEN_FILES_MIN) {
    return warning(
      `the limit is ${max} open files, and each connection uses one`,
      `raise the limit to at least ${OPEN_FILES_MIN}: LimitNOFILE in systemd, ulimit -n in a shell`,
    );
  }
  return ok(`the limit is ${max}`);
}

/** The URL at which this machine reaches a server with these settings. */
export function localUrl({ host, port }: Pick<PortAddress, 'host' | 'port'>): string {
  return urlOf(THIS_MACHINE[host] ?? host, port);
}

export async function checkPort({ host, port, option }: PortAddress): Promise<Verdict> {
  if (port === 0) return ok('any free port');
  const place = `${port} on ${host}`;
  const code = tryToListen({ host, port, option });
  if (code === undefined) return ok(`${place} is free`);
  if (code === 'EADDRINUSE') {
    const problem = await livenessProblem(localUrl({ host, port }));
    if (problem === undefined) return ok(`${place} is used by a running Offerbook server`);
    return fault(`${place} is used by another program`, `choose another port with ${option}`);
  }
  if (code === 'EACCES')
    return fault(`this user is not allowed to listen on ${place}`, `choose a port above 1023 with ${option}`);
  return fault(`${place} cannot be opened (${code})`, 'check that --host is an address of this machine');
}

/** Returns the error code; undefined if the port is free. */
function tryToListen(address: PortAddress): string | undefined {
  try {
    findPort(address);
    return undefined;
  } catch (error) {
    const { code = 'unknown' } = (error as Error).cause as NodeJS.ErrnoException;
    return code;
  }
}

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
