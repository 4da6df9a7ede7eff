// Strong entity tags (RFC 9110), computed from the body: every node returns the same tag, and a page keeps its tag until its
// contents change. Each content coding has its own tag.

import type { Coding } from './content-coding.ts';

export function entityTag(body: Uint8Array<ArrayBuffer>, coding: Coding | undefined): string {
  const hash = Bun.hash.xxHash3(body).toString(36);
  return coding === undefined ? `"${hash}"` : `"${hash}-${coding}"`;
}

/** Enough for 100 tags. Parsing 60,000 characters would block the process for milliseconds. */
const HEADER_LENGTH_MAX = 4_096;

/** True if If-None-Match contains this tag, even marked as weak by a proxy. A header that is too long is ignored. */
export function matchesTag(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null || ifNoneMatch.length > HEADER_LENGTH_MAX) return false;
  // Fast path: nearly all clients send back the tag they received.
  if (ifNoneMatch === tag) return true;
  return ifNoneMatch
    .split(',')
    .map((candidate) => candidate.trim())
    .some((candidate) => candidate === '*' || candidate === tag || candidate === `W/${tag}`);
}
