// Checks access to the admin port. With --admin-token-file, every request except /livez and /readyz needs the secret, as a
// password (for browsers) or as a bearer token (for Prometheus). If that option is not set, Host must be a loopback name. There
// are no cookies, so none can be stolen or sent by another page.

import { timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BadInput } from '@offerbook/wire/failures.ts';
import { isLoopback, type ServeSettings } from '../../config.ts';
import { ipNetworkOf } from '../../http/access/client-address.ts';
import { rateLimiter } from '../../http/access/rate-limit.ts';
import { keptRequestCounts } from '../../http/access/request-counts.ts';

/**
 * Maximum number of wrong secrets per minute and address. Above it, the response is 429, so that a misconfigured client slows
 * down.
 */
const FAILURES_MAX = 10;
/** Long enough that the secret cannot be guessed. `openssl rand -base64 24` prints 32 characters. */
const SECRET_LENGTH_MIN = 20;

/** Returns the response that rejects the request; undefined to accept it. */
type Refuse = (request: Request, address: string) => Response | undefined;

/** Throws BadInput if the secret's file is unreadable or its content is invalid. */
export function openAdminAccess({ adminTokenFile }: ServeSettings): Refuse {
  const refuse =
    adminTokenFile === undefined ? refuseOtherNames : refuseWithoutSecret(readSecret(adminTokenFile));
  return (request, address) => refuse(request, address) ?? refuseForeignForm(request);
}

function refuseWithoutSecret(secret: string): Refuse {
  const expected = digest(secret);
  const failures = rateLimiter('admin', FAILURES_MAX, keptRequestCounts({ slots: 1_024 }));
  return (request, address) => {
    const given = readSent(request.headers.get('Authorization'));
    // The secret is checked before the limit, so that a client with wrong secrets does not lock out others at its address.
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return undefined;
    // A browser's first request has no password and does not count towards the limit.
    if (given !== undefined) {
      const { exceeded, retryAfterS } = failures(ipNetworkOf(address));
      if (exceeded) return refusal(429, 'Too many wrong secrets.', { 'Retry-After': String(retryAfterS) });
    }
    return refusal(401, 'Send the secret from --admin-token-file, as a password or as a bearer token.', {
      'WWW-Authenticate': 'Basic realm="Offerbook console", charset="UTF-8"',
    });
  };
}

/**
 * Protects against DNS rebinding: a page on the web can point its host name at this machine, but its requests still contain
 * that name in Host.
 */
function refuseOtherNames(request: Request): Response | undefined {
  const host = request.headers.get('Host') ?? '';
  return isLoopback(host.replace(/:\d+$/, ''))
    ? undefined
    : refusal(
        421,
        'Use localhost or 127.0.0.1 as the host name, or start the server with --admin-token-file.',
      );
}

/** Rejects forms submitted by pages from other origins. Clients other than browsers send neither Sec-Fetch-Site nor Origin. */
function refuseForeignForm({ method, headers }: Request): Response | undefined {
  if (method !== 'POST') return undefined;
  const site = headers.get('Sec-Fetch-Site');
  const origin = headers.get('Origin');
  const isOwn =
    site === null
      ? origin === null || (URL.canParse(origin) && new URL(origin).host === headers.get('Host'))
      : site === 'same-origin' || site === 'none';
  return isOwn ? undefined : refusal(403, 'This form was sent from a page on another origin.');
}

export function refusal(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, { status, headers: { ...headers, 'Cache-Control': 'no-store' } });
}

/** The password from Basic credentials (the user name is ignored), or a bearer token. */
function readSent(authorization: string | null): string | undefined {
  const [, scheme = '', credentials = ''] =
    /^(basic|bearer) +(\S+)$/i.exec(authorization?.trim() ?? '') ?? [];
  if (scheme === '') return undefined;
  if (scheme.toLowerCase() === 'bearer') return credentials;
  const pair = Buffer.from(credentials, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

/** All digests have the same length, so comparing them does not reveal the length of the secret. */
function digest(text: string): Uint8Array {
  return Bun.SHA256.hash(text) as Uint8Array;
}

/** Error messages never repeat the secret. */
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
      `--admin-token-file ${path} must contain one line of at least ${SECRET_LENGTH_MIN} characters without spaces, such as the output of openssl rand -base64 24`,
    );
  }
  if (isGuessable(text)) {
    throw new BadInput(
      `--admin-token-file ${path} is easy to guess; replace it with the output of openssl rand -base64 24`,
    );
  }
  return text;
}

/** True for well-known words, repetitions and sequences. A random secret has at least six different characters. */
function isGuessable(secret: string): boolean {
  const steps = Array.from(secret.slice(1), (_, i) => secret.charCodeAt(i + 1) - secret.charCodeAt(i));
  return (
    /passwor|changeme|qwerty|12345678/i.test(secret) ||
    new Set(secret).size < 6 ||
    /^(.+)\1+$/.test(secret) ||
    new Set(steps).size === 1
  );
}
