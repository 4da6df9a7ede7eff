// Access tokens: their kinds, format and lifetime. A token is shown once, when it is issued; only its SHA-256 digest is
// stored.
//
//   ob_pub_ | ob_prv_   the kind, visible to people and to secret scanners
//   30 characters       base62, 178 random bits
//   6 characters        CRC-32 of all preceding characters, to reject typos without a lookup

import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { BASE62, printBase62 } from './base62.ts';

export const TOKEN_KINDS = ['public', 'private'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

const PREFIX: Record<TokenKind, string> = { public: 'ob_pub_', private: 'ob_prv_' };
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^ob_(pub|prv)_[0-9A-Za-z]{36}$/;

export interface TokenEnds {
  readonly expiresAtMs: number | null;
  /** End of the overlap with a rotated token's successor. */
  readonly overlapEndsAtMs: number | null;
  /** When the token was revoked. A revoked token never works, whatever this time is: the clocks of two machines may differ. */
  readonly revokedAtMs: number | null;
}

export interface AccessToken extends TokenEnds {
  readonly id: Uuid;
  readonly orgId: number;
  readonly orgName: string;
  readonly kind: TokenKind;
  readonly label: string;
  readonly digest: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** Calls `nextBytes` until the token is complete. The bytes must be unpredictable. */
export function newTokenText(
  kind: TokenKind,
  nextBytes: () => Uint8Array = () => crypto.getRandomValues(new Uint8Array(SECRET_LENGTH)),
): string {
  let text = PREFIX[kind];
  const end = text.length + SECRET_LENGTH;
  while (text.length < end) {
    for (const byte of nextBytes()) {
      // 248 is the largest multiple of 62 that fits in a byte. Using larger bytes would favour the alphabet's first characters.
      if (byte < 248 && text.length < end) text += BASE62[byte % 62];
    }
  }
  return text + checksum(text);
}

/** Returns the kind of a token; undefined if its format or checksum is wrong. */
export function parseTokenKind(text: string): TokenKind | undefined {
  if (!SHAPE.test(text)) return undefined;
  if (checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return undefined;
  return text.startsWith(PREFIX.public) ? 'public' : 'private';
}

export function digestToken(text: string): string {
  return Bun.SHA256.hash(text, 'hex');
}

/** Returns the time when a token stops working; null if it never does. */
export function endMs({ expiresAtMs, overlapEndsAtMs, revokedAtMs }: TokenEnds): number | null {
  const ends = [expiresAtMs, overlapEndsAtMs, revokedAtMs].filter((ms) => ms !== null);
  return ends.length === 0 ? null : Math.min(...ends);
}

export function isLive(token: TokenEnds, nowMs: number): boolean {
  const { expiresAtMs, overlapEndsAtMs, revokedAtMs } = token;
  const isPast = (ms: number | null) => ms !== null && ms <= nowMs;
  return revokedAtMs === null && !isPast(expiresAtMs) && !isPast(overlapEndsAtMs);
}

/** Long enough to issue and deploy another token. */
const EXPIRING_MS = 14 * DAY_MS;

/** True if the token expires within two weeks. False for revoked and rotated tokens, which were ended on purpose. */
export function isExpiring(token: TokenEnds, nowMs: number): boolean {
  const { expiresAtMs, overlapEndsAtMs } = token;
  const isSoon = expiresAtMs !== null && expiresAtMs < nowMs + EXPIRING_MS;
  return isSoon && overlapEndsAtMs === null && isLive(token, nowMs);
}

type TokenState = 'live' | 'ending' | 'revoked' | 'expired';

export function tokenState(token: AccessToken, nowMs: number): TokenState {
  if (isLive(token, nowMs)) return token.overlapEndsAtMs === null ? 'live' : 'ending';
  if (token.revokedAtMs !== null) return 'revoked';
  return token.overlapEndsAtMs !== null && token.overlapEndsAtMs <= nowMs ? 'revoked' : 'expired';
}

function checksum(text: string): string {
  return printBase62(Bun.hash.crc32(text), CHECKSUM_LENGTH);
}

export type NewToken = Pick<AccessToken, 'orgId' | 'kind' | 'label' | 'digest' | 'expiresAtMs'>;

interface Succession {
  readonly successor: NewToken;
  /** When the replaced token stops working; null to revoke it at once. */
  readonly overlapEndsAtMs: number | null;
}

export interface TokenStore {
  /** All tokens, including expired and revoked ones, at the returned revision. */
  list(): Promise<{ revision: number; tokens: AccessToken[] }>;
  add(token: NewToken): Promise<AccessToken>;
  /** Returns undefined if there is no such token. */
  revoke(id: Uuid): Promise<AccessToken | undefined>;
  /**
   * Adds a successor and ends the old token after the overlap, unless it ends earlier, atomically. Calls `succeed` while the
   * token is locked, so concurrent rotations run one after the other. If `succeed` throws, nothing changes. Returns undefined if
   * there is no such token.
   */
  rotate(
    id: Uuid,
    succeed: (token: AccessToken) => Succession,
  ): Promise<{ replaced: AccessToken; successor: AccessToken } | undefined>;
  /** Stores when tokens were last used. Best effort: the update may be delayed while another process writes. */
  touch(lastUsedAtMs: ReadonlyMap<Uuid, number>): Promise<void>;
}
