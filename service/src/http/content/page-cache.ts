// Caches catalogue pages by their query string, or items by their id, as replies that are compressed once per coding. They are
// cached from their second request until their list changes. This is an LRU cache with a size limit in bytes.

import type { ListView } from '../../catalogue/list-view.ts';
import type { EncodedPage } from '../../catalogue/tables/page-writer.ts';
import { type Exchange, linkToNext, nextSearch } from '../exchange.ts';
import { noneSent, type Reply } from '../reply.ts';
import { type Coding, compress } from './content-coding.ts';
import { entityTag, matchesTag } from './entity-tag.ts';

/** Size limit for each list, before compression. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;
/** Memory that a cached page needs in addition to its bytes: its key, its replies and their headers. */
const PAGE_OVERHEAD_BYTES = 4 * 1024;
/** Number of queries remembered per list, to detect repeated requests. */
const QUERIES_REMEMBERED_MAX = 2_000;
/** Pages with a longer query string are not cached. Long query strings are rare, and remembering them would take memory. */
const SEARCH_LENGTH_MAX = 500;

const MAX_AGE_S = 60;
const LONGEST_CACHING = `private, max-age=${MAX_AGE_S}`;
const VARY = 'Authorization, Accept-Encoding';

export type PageCache = ReturnType<typeof pageCache>;

export function pageCache() {
  /** The list that the pages are from. They are dropped with it: after an import, or when a deal starts or ends. */
  let current: ListView | undefined;
  const pages = new Map<string, CataloguePage>();
  const remembered = new Set<string>();
  let bytes = 0;

  /** Searches and walks request most pages once; caching those would be slow and evict pages that many clients request. */
  function isRepeated(search: string): boolean {
    if (remembered.delete(search)) return true;
    if (remembered.size === QUERIES_REMEMBERED_MAX) remembered.clear();
    remembered.add(search);
    return false;
  }

  return {
    /** Returns the cached page for a query string, if there is one. */
    find(view: ListView, search: string): CataloguePage | undefined {
      if (view !== current) {
        current = view;
        pages.clear();
        remembered.clear();
        bytes = 0;
      }
      const page = pages.get(search);
      if (page === undefined) return undefined;
      // Maps preserve insertion order, so the most recently used page is last.
      pages.delete(search);
      pages.set(search, page);
      return page;
    },
    /** Returns the page to send, which find() did not return. Caches it if it was requested before. */
    add(search: string, encoded: EncodedPage): CataloguePage {
      if (search.length > SEARCH_LENGTH_MAX || !isRepeated(search)) return cataloguePage(encoded, search);
      const page = cataloguePage({ ...encoded, bytes: encoded.bytes.slice() }, search);
      pages.set(search, page);
      bytes += sizeOf(page.encoded);
      for (const [oldest, { encoded }] of pages) {
        if (bytes <= LIST_BYTES_MAX) break;
        pages.delete(oldest);
        bytes -= sizeOf(encoded);
      }
      return page;
    },
  };
}

function sizeOf({ bytes }: EncodedPage): number {
  return bytes.length + PAGE_OVERHEAD_BYTES;
}

export type CataloguePage = ReturnType<typeof cataloguePage>;

/** Returns a page. It is valid only until the next page is written, unless its bytes are a copy. */
function cataloguePage(encoded: EncodedPage, search: string) {
  /** Query string of the next page; undefined on the last page. */
  const next = encoded.cursor === undefined ? undefined : nextSearch(search, encoded.cursor);
  const representations = new Map<Coding | undefined, Representation>();
  /** The Link header of the last response, and the URL that it was built from. */
  let link = { origin: '', path: '', value: '' };
  return {
    encoded,
    /** Returns the Link header to the next page; undefined on the last page. */
    linkFor({ origin, path }: Exchange): string | undefined {
      if (next === undefined) return undefined;
      if (origin !== link.origin || path !== link.path)
        link = { origin, path, value: linkToNext({ origin, path }, next) };
      return link.value;
    },
    as: (coding: Coding | undefined) =>
      representations.getOrInsertComputed(coding, () => representationOf(encoded, coding)),
  };
}

export type Representation = ReturnType<typeof representationOf>;

/** Returns a page in one coding, with its 200 and 304 replies. By default, the page is compressed when it is first sent. */
export function representationOf(
  { bytes }: EncodedPage,
  coding: Coding | undefined,
  compressed?: Uint8Array<ArrayBuffer>,
) {
  const tag = entityTag(bytes, coding);
  let unchanged: Reply | undefined;
  let whole: Reply | undefined;

  function build(): Reply {
    const headers = new Headers({ Vary: VARY, ETag: tag, 'Content-Type': 'application/json' });
    if (coding !== undefined) headers.set('Content-Encoding', coding);
    const coded = coding === undefined ? bytes : (compressed ?? compress(coding, bytes));
    // A Blob, because a Response would copy plain bytes each time.
    return { status: 200, headers, sent: noneSent(), body: new Blob([coded]) };
  }

  return {
    tag,
    /** The 304 reply: only the headers a cache needs to keep its copy. */
    unchanged(): Reply {
      unchanged ??= {
        status: 304,
        headers: new Headers({ Vary: VARY, ETag: tag }),
        sent: noneSent(),
        body: null,
      };
      return unchanged;
    },
    whole(): Reply {
      whole ??= build();
      return whole;
    },
  };
}

/** Returns the 304 or 200 reply. Clients can cache a page for one minute, or less if it changes sooner. */
export function pageReply(
  representation: Representation,
  { changesAtMs }: EncodedPage,
  { request }: Exchange,
  nowMs: number,
  link?: string,
): Reply {
  const leftS = Math.floor((changesAtMs - nowMs) / 1000);
  const cacheControl = leftS >= MAX_AGE_S ? LONGEST_CACHING : `private, max-age=${Math.max(0, leftS)}`;
  return matchesTag(request.headers.get('If-None-Match'), representation.tag)
    ? { ...representation.unchanged(), cacheControl }
    : { ...representation.whole(), cacheControl, link };
}
