// Who may use the admin port. On this machine alone it needs no secret; elsewhere every request but the probes has to bring
// the one in --admin-token-file, as a password (browsers ask for it) or as a bearer token (as Prometheus sends it). No
// cookie is ever set, so that none can be stolen or sent along by another page.

import { timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BadInput } from '@offerbook/wire/failures.ts';
import { isLoopback, type ServeSettings } from '../../config.ts';
import { networkOf } from '../../http/access/client-address.ts';
import { RateLimiter } from '../../http/access/rate-limit.ts';
import { LocalCounter } from '../../http/access/request-counter.ts';

/** Wrong secrets in a minute, by address. Beyond it the answer is 429, so that a misconfigured client slows down. */
const FAILURES_MAX = 10;
/** The length is what protects against guessing. Password managers and `openssl rand -base64 24` make longer secrets. */
const SECRET_LENGTH_MIN = 20;

/** Returns what refuses the request; undefined to let it in. */
type Refuse = (request: Request, address: string) => Response | undefined;

/** Throws BadInput when the file of the secret cannot be used. */
export function openAdminAccess({ adminTokenFile }: ServeSettings): Refuse {
  const refuse =
    adminTokenFile === undefined ? refuseOtherNames : refuseWithoutSecret(readSecret(adminTokenFile));
  return (request, address) => refuse(request, address) ?? refuseForeignForm(request);
}

function refuseWithoutSecret(secret: string): Refuse {
  const expected = digest(secret);
  const failures = new RateLimiter('admin', FAILURES_MAX, new LocalCounter());
  return (request, address) => {
    const given = readSent(request.headers.get('Authorization'));
    // Checked before the limit: clients may share an address with one that sends wrong secrets.
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return undefined;
    // A browser's first request has no password.
    if (given !== undefined) {
      const { exceeded, retryAfterS } = failures.take(networkOf(address));
      if (exceeded) return refusal(429, 'Too many wrong tries.', { 'Retry-After': String(retryAfterS) });
    }
    return refusal(401, 'Send the secret of --admin-token-file, as a password or as a bearer token.', {
      'WWW-Authenticate': 'Basic realm="Offerbook console", charset="UTF-8"',
    });
  };
}

/**
 * Without a secret, whoever can connect is let in, and a page from anywhere can have its own host name point to this
 * machine. Such a request still names that host.
 */
function refuseOtherNames(request: Request): Response | undefined {
  const host = request.headers.get('Host') ?? '';
  return isLoopback(host.replace(/:\d+$/, ''))
    ? undefined
    : refusal(421, 'Open this under localhost or 127.0.0.1, or give the server an --admin-token-file.');
}

/** Refuses a form that a page of another origin has sent. Programs send neither header. */
function refuseForeignForm({ method, headers }: Request): Response | undefined {
  if (method !== 'POST') return undefined;
  const site = headers.get('Sec-Fetch-Site');
  const origin = headers.get('Origin');
  const isOwn =
    site === null
      ? origin === null || (URL.canParse(origin) && new URL(origin).host === headers.get('Host'))
      : site === 'same-origin' || site === 'none';
  return isOwn ? undefined : refusal(403, 'This form was sent by a page of another origin.');
}

export function refusal(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, { status, headers: { ...headers, 'Cache-Control': 'no-store' } });
}

/** The password of Basic credentials, under whichever name, or a bearer token. */
function readSent(authorization: string | null): string | undefined {
  const [, scheme = '', credentials = ''] =
    /^(basic|bearer) +(\S+)$/i.exec(authorization?.trim() ?? '') ?? [];
  if (scheme === '') return undefined;
  if (scheme.toLowerCase() === 'bearer') return credentials;
  const pair = Buffer.from(credentials, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

/** Digests have one length, so that comparing them tells nothing about that of the secret. */
function digest(text: string): Uint8Array {
  return Bun.SHA256.hash(text) as Uint8Array;
}

/** The secret itself is never repeated. */
function readSecret(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BadInput(`--admin-token-file ${path} cannot be read (${code ?? 'unknown error'})`, {
      cause: error,
    });
  }
  if (!/^[\x21-\x7e]+$/.test(text) || text.length < SECRET_LENGTH_MIN) {
    throw new BadInput(
      `--admin-token-file ${path} must hold one line of at least ${SECRET_LENGTH_MIN} characters without spaces, such as openssl rand -base64 24 prints`,
    );
  }
  return text;
}
