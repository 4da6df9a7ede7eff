// Pages of the catalogue as replies. A page that is asked for again is kept, compressed once for each coding, while the
// list it was cut from is current. Bounded by bytes; the page that was used longest ago goes first.

import type { CatalogueQuery, EncodedPage, ListView } from '../../catalogue/catalogue.ts';
import type { Uuid } from '../../domain/uuid.ts';
import type { Reply } from '../reply.ts';
import { type Coding, compress } from './content-coding.ts';
import { entityTag } from './entity-tag.ts';

/** For each of the four lists, before compression. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;
/** So many queries of each list are remembered, to know one that comes again. */
const QUERIES_REMEMBERED_MAX = 2_000;

const MAX_AGE_S = 60;

/** A page in one coding, and the two ways to answer with it. */
export interface Representation {
  readonly tag: string;
  readonly whole: Reply;
  readonly unchanged: Reply;
}

export interface CataloguePage {
  readonly cursor: Uuid | undefined;
  readonly size: number;
  /** When time alone makes another page of it. */
  readonly changesAtMs: number;
  as(coding: Coding | undefined): Representation;
}

export class PageCache {
  /** The pages of a list go when the list does: a new import, or a coupon that starts or ends. */
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
  readonly #pages = new Map<string, KeptPage>();
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
      if (!this.#isAskedForAgain(key)) return new PassingPage(encoded);
      page = new KeptPage(encoded);
      this.#bytes += page.size;
      this.#makeRoom();
    } else {
      this.#pages.delete(key);
    }
    // A Map keeps the order of insertion, so what was used last stands last.
    this.#pages.set(key, page);
    return page;
  }

  /**
   * Searches and walks through the list ask for most pages once. To keep these would cost a fifth of their time, and
   * would push out the ones that everybody asks for.
   */
  #isAskedForAgain(key: string): boolean {
    if (this.#remembered.delete(key)) return true;
    if (this.#remembered.size === QUERIES_REMEMBERED_MAX) this.#remembered.clear();
    this.#remembered.add(key);
    return false;
  }

  #makeRoom(): void {
    for (const [key, page] of this.#pages) {
      if (this.#bytes <= LIST_BYTES_MAX) return;
      this.#pages.delete(key);
      this.#bytes -= page.size;
    }
  }
}

/** A page for one answer, which has to be made before the next page is written. */
class PassingPage implements CataloguePage {
  readonly #page: EncodedPage;

  constructor(page: EncodedPage) {
    this.#page = page;
  }

  get cursor(): Uuid | undefined {
    return this.#page.cursor;
  }

  get size(): number {
    return this.#page.bytes.length;
  }

  get changesAtMs(): number {
    return this.#page.changesAtMs;
  }

  as(coding: Coding | undefined): Representation {
    const page = this.#page;
    const tag = entityTag(page.bytes, coding);
    return {
      tag,
      get whole() {
        return { status: 200, headers: wholeHeaders(tag, coding), body: blobOf(page.bytes, coding) };
      },
      get unchanged() {
        return { status: 304, headers: unchangedHeaders(tag), body: null };
      },
    };
  }
}

/** A page for many answers. */
class KeptPage implements CataloguePage {
  readonly cursor: Uuid | undefined;
  readonly changesAtMs: number;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #representations = new Map<Coding | undefined, Representation>();

  constructor({ bytes, cursor, changesAtMs }: EncodedPage) {
    this.cursor = cursor;
    this.changesAtMs = changesAtMs;
    this.#bytes = bytes.slice();
  }

  get size(): number {
    return this.#bytes.length;
  }

  as(coding: Coding | undefined): Representation {
    let representation = this.#representations.get(coding);
    if (representation === undefined) {
      representation = this.#represent(coding);
      this.#representations.set(coding, representation);
    }
    return representation;
  }

  #represent(coding: Coding | undefined): Representation {
    const tag = entityTag(this.#bytes, coding);
    const body = blobOf(this.#bytes, coding);
    return {
      tag,
      whole: { status: 200, headers: new Headers(wholeHeaders(tag, coding)), body },
      unchanged: { status: 304, headers: new Headers(unchangedHeaders(tag)), body: null },
    };
  }
}

/** A copy of its own: a Response takes a Blob over as it is, and bytes it would copy. */
function blobOf(bytes: Uint8Array<ArrayBuffer>, coding: Coding | undefined): Blob {
  return new Blob([coding === undefined ? bytes : compress(coding, bytes)]);
}

function wholeHeaders(tag: string, coding: Coding | undefined): Record<string, string> {
  const headers = { ...unchangedHeaders(tag), 'Content-Type': 'application/json' };
  return coding === undefined ? headers : { ...headers, 'Content-Encoding': coding };
}

/** Of what describes the page, a 304 repeats only what a cache needs to go on with its copy. */
function unchangedHeaders(tag: string): Record<string, string> {
  return { Vary: 'Authorization, Accept-Encoding', ETag: tag };
}

/** How long an answer may be kept: a minute, but no longer than the page stays as it is. */
export function cacheControl({ changesAtMs }: CataloguePage, nowMs: number): string {
  const leftS = Math.floor((changesAtMs - nowMs) / 1000);
  return `private, max-age=${Math.min(MAX_AGE_S, Math.max(0, leftS))}`;
}

/** Goes through whatever the query has, so that no filter can be forgotten: pages of another query would be answered. */
function cacheKey(query: CatalogueQuery): string {
  let key = `${query.cursor ?? ''} ${query.limit}`;
  for (const name in query) {
    if (name === 'cursor' || name === 'limit') continue;
    // JSON, because a searched text may hold any character that could serve to separate it from the next.
    key += ` ${name} ${JSON.stringify(query[name as keyof CatalogueQuery])}`;
  }
  return key;
}
