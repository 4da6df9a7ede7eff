// Caches catalogue pages as replies, compressed once per coding. Pages are cached from their second request until their list
// changes. This is an LRU cache with a size limit in bytes.

import type { CatalogueQuery, ListView } from '../../catalogue/list-view.ts';
import type { EncodedPage } from '../../catalogue/tables/page-writer.ts';
import type { Reply } from '../reply.ts';
import { type Coding, compress } from './content-coding.ts';
import { entityTag } from './entity-tag.ts';

/** Size limit for each of the four lists, before compression. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;
/** Number of queries remembered per list, to detect repeated requests. */
const QUERIES_REMEMBERED_MAX = 2_000;

const MAX_AGE_S = 60;
const VARY = 'Authorization, Accept-Encoding';

export class PageCache {
  /** Pages are dropped with their view: after an import, or when a deal starts or ends. */
  readonly #lists = new WeakMap<ListView, ListPages>();

  get(view: ListView, query: CatalogueQuery): CataloguePage {
    let pages = this.#lists.get(view);
    if (pages === undefined) {
      pages = new ListPages(view);
      this.#lists.set(view, pages);
    }
    return pages.get(query);
  }
}

class ListPages {
  readonly #view: ListView;
  readonly #pages = new Map<string, CataloguePage>();
  readonly #remembered = new Set<string>();
  #bytes = 0;

  constructor(view: ListView) {
    this.#view = view;
  }

  get(query: CatalogueQuery): CataloguePage {
    const key = cacheKey(query);
    let page = this.#pages.get(key);
    if (page === undefined) {
      const encoded = this.#view.page(query);
      if (!this.#isRepeated(key)) return new CataloguePage(encoded);
      page = new CataloguePage({ ...encoded, bytes: encoded.bytes.slice() });
      this.#bytes += page.encoded.bytes.length;
      this.#makeRoom();
    } else {
      this.#pages.delete(key);
    }
    // Maps preserve insertion order, so the most recently used page is last.
    this.#pages.set(key, page);
    return page;
  }

  /**
   * True if an earlier request had the same query. Searches and walks request most pages only once. Caching those pages
   * would slow the requests down and evict pages that many clients request.
   */
  #isRepeated(key: string): boolean {
    if (this.#remembered.delete(key)) return true;
    if (this.#remembered.size === QUERIES_REMEMBERED_MAX) this.#remembered.clear();
    this.#remembered.add(key);
    return false;
  }

  #makeRoom(): void {
    for (const [key, page] of this.#pages) {
      if (this.#bytes <= LIST_BYTES_MAX) return;
      this.#pages.delete(key);
      this.#bytes -= page.encoded.bytes.length;
    }
  }
}

/** A page. It is valid only until the next page is written, unless its bytes are a copy. */
export class CataloguePage {
  readonly encoded: EncodedPage;
  readonly #representations = new Map<Coding | undefined, Representation>();

  constructor(encoded: EncodedPage) {
    this.encoded = encoded;
  }

  as(coding: Coding | undefined): Representation {
    let representation = this.#representations.get(coding);
    if (representation === undefined) {
      representation = new Representation(this.encoded, coding);
      this.#representations.set(coding, representation);
    }
    return representation;
  }
}

/** A page in one coding, with its 200 and 304 replies. */
class Representation {
  readonly tag: string;
  /** The 304 reply: only the headers a cache needs to keep its copy. */
  readonly unchanged: Reply;
  readonly #page: EncodedPage;
  readonly #coding: Coding | undefined;
  #whole: Reply | undefined;

  constructor(page: EncodedPage, coding: Coding | undefined) {
    this.tag = entityTag(page.bytes, coding);
    this.unchanged = { status: 304, headers: new Headers({ Vary: VARY, ETag: this.tag }), body: null };
    this.#page = page;
    this.#coding = coding;
  }

  get whole(): Reply {
    this.#whole ??= this.#makeWhole();
    return this.#whole;
  }

  #makeWhole(): Reply {
    const headers = new Headers({ Vary: VARY, ETag: this.tag, 'Content-Type': 'application/json' });
    if (this.#coding !== undefined) headers.set('Content-Encoding', this.#coding);
    const { bytes } = this.#page;
    const coded = this.#coding === undefined ? bytes : compress(this.#coding, bytes);
    // A Blob, because a Response would copy plain bytes each time.
    return { status: 200, headers, body: new Blob([coded]) };
  }
}

/** Clients can cache a page for one minute, or less if it changes sooner. */
export function cacheControl({ changesAtMs }: EncodedPage, nowMs: number): string {
  const leftS = Math.floor((changesAtMs - nowMs) / 1000);
  return `private, max-age=${Math.min(MAX_AGE_S, Math.max(0, leftS))}`;
}

/** Includes every property of the query. If a filter were missing, clients would get another query's page. */
function cacheKey(query: CatalogueQuery): string {
  let key = `${query.cursor ?? ''} ${query.limit}`;
  for (const name in query) {
    if (name === 'cursor' || name === 'limit') continue;
    // JSON, because a search string may contain any separator.
    key += ` ${name} ${JSON.stringify(query[name as keyof CatalogueQuery])}`;
  }
  return key;
}
