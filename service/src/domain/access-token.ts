// Access tokens: their two kinds, their shape, and how they are made and read. A token is shown once, when
// it is issued; what is stored and compared is its SHA-256 digest.
//
//   ob_pub_ | ob_prv_   the kind, so that people and leak scanners can see what they have
//   30 characters       base62, 178 random bits
//   6 characters        CRC-32 of everything before, so that a typing mistake needs no look-up

import { BASE62, printBase62 } from './base62.ts';
import type { Uuid } from './uuid.ts';

export const TOKEN_KINDS = ['public', 'private'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

const PREFIX: Record<TokenKind, string> = { public: 'ob_pub_', private: 'ob_prv_' };
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^ob_(pub|prv)_[0-9A-Za-z]{36}$/;

/** What is kept of a token. */
export interface AccessToken {
  readonly id: Uuid;
  readonly orgId: number;
  readonly orgName: string;
  readonly kind: TokenKind;
  readonly label: string;
  readonly digest: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
}

/** `nextBytes` is asked until there is enough; every answer must be as hard to guess as a random one. */
export function newTokenText(
  kind: TokenKind,
  nextBytes: () => Uint8Array = () => crypto.getRandomValues(new Uint8Array(SECRET_LENGTH)),
): string {
  let text = PREFIX[kind];
  const end = text.length + SECRET_LENGTH;
  while (text.length < end) {
    for (const byte of nextBytes()) {
      // 248 is the largest multiple of 62 in a byte: what lies above would favour the first characters.
      if (byte < 248 && text.length < end) text += BASE62[byte % 62];
    }
  }
  return text + checksum(text);
}

/** The kind that a token's text declares; undefined when the shape or the checksum is wrong. */
export function parseTokenKind(text: string): TokenKind | undefined {
  if (!SHAPE.test(text)) return undefined;
  if (checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return undefined;
  return text.startsWith(PREFIX.public) ? 'public' : 'private';
}

export function digestToken(text: string): string {
  return Bun.SHA256.hash(text, 'hex');
}

type TokenEnds = Pick<AccessToken, 'expiresAtMs' | 'revokedAtMs'>;

/** When a token ends: as it expires or as its revocation comes into force, whichever is first. Null for never. */
export function endMs({ expiresAtMs, revokedAtMs }: TokenEnds): number | null {
  if (expiresAtMs === null || revokedAtMs === null) return expiresAtMs ?? revokedAtMs;
  return Math.min(expiresAtMs, revokedAtMs);
}

export function isLive(token: TokenEnds, nowMs: number): boolean {
  const end = endMs(token);
  return end === null || end > nowMs;
}

/** Time enough to issue another token and have it put to use. */
const EXPIRING_MS = 14 * 86_400_000;

/** Within two weeks, and not because somebody wants it to: one that was revoked or rotated ends for that reason. */
export function isExpiring(token: TokenEnds, nowMs: number): boolean {
  const { expiresAtMs, revokedAtMs } = token;
  return (
    revokedAtMs === null && expiresAtMs !== null && expiresAtMs < nowMs + EXPIRING_MS && isLive(token, nowMs)
  );
}

export type TokenState = 'live' | 'ending' | 'revoked' | 'expired';

export function tokenState(token: AccessToken, nowMs: number): TokenState {
  if (isLive(token, nowMs)) return token.revokedAtMs === null ? 'live' : 'ending';
  return token.revokedAtMs !== null && token.revokedAtMs <= nowMs ? 'revoked' : 'expired';
}

function checksum(text: string): string {
  return printBase62(Bun.hash.crc32(text), CHECKSUM_LENGTH);
}
