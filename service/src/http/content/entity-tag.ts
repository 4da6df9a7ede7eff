// Entity tags (RFC 9110): strong ones, made from the body, so that they agree between nodes and a page that
// an import did not touch keeps its tag. Each content coding is a representation with a tag of its own.

import type { Coding } from './content-coding.ts';

export function entityTag(body: Uint8Array<ArrayBuffer>, coding: Coding | undefined): string {
  const hash = Bun.hash.xxHash3(body).toString(36);
  return coding === undefined ? `"${hash}"` : `"${hash}-${coding}"`;
}

/** Whether an If-None-Match header names this tag. Proxies may have marked it as weak; that does not matter here. */
export function matchesTag(ifNoneMatch: string | null, tag: string): boolean {
  if (ifNoneMatch === null) return false;
  // A client nearly always sends back the one tag it was given.
  if (ifNoneMatch === tag) return true;
  return ifNoneMatch
    .split(',')
    .map((candidate) => candidate.trim())
    .some((candidate) => candidate === '*' || candidate === tag || candidate === `W/${tag}`);
}
