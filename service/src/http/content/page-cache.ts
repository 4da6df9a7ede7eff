// Pages of the catalogue as replies. A page that is asked for again is kept, compressed once for each coding, while the
// list it was cut from is current. Bounded by bytes; the page that was used longest ago goes first.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { CatalogueQuery, EncodedPage, ListView } from '../../catalogue/catalogue.ts';
import type { Reply } from '../reply.ts';
import { type Coding, compress } from './content-coding.ts';
import { entityTag } from './entity-tag.ts';

/** For each of the four lists, before compression. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;
/** So many queries of each list are remembered, to know one that comes again. */
const QUERIES_REMEMBERED_MAX = 2_000;

const MAX_AGE_S = 60;
const VARY = 'Authorization, Accept-Encoding';

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
      if (!this.#isAskedForAgain(key)) return new CataloguePage(encoded);
      page = new CataloguePage({ ...encoded, bytes: encoded.bytes.slice() });
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

/** A page for one answer, to be made before the next page is written, or for many, if its bytes are a copy. */
export class CataloguePage {
  readonly #page: EncodedPage;
  readonly #representations = new Map<Coding | undefined, Representation>();

  constructor(page: EncodedPage) {
    this.#page = page;
  }

  get cursor(): Uuid | undefined {
    return this.#page.cursor;
  }

  get size(): number {
    return this.#page.bytes.length;
  }

  /** When time alone makes another page of it. */
  get changesAtMs(): number {
    return this.#page.changesAtMs;
  }

  as(coding: Coding | undefined): Representation {
    let representation = this.#representations.get(coding);
    if (representation === undefined) {
      representation = new Representation(this.#page, coding);
      this.#representations.set(coding, representation);
    }
    return representation;
  }
}

/** A page in one coding, and the two ways to answer with it. */
class Representation {
  readonly tag: string;
  /** Of what describes the page, a 304 repeats only what a cache needs to go on with its copy. */
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
    // A copy of its own: a Response takes a Blob over as it is, and bytes it would copy.
    return { status: 200, headers, body: new Blob([coded]) };
  }
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
