// Pages of the catalogue as replies: built once, compressed once for each coding, and kept while the list they
// were cut from is current. Bounded by bytes; the page that was used longest ago goes first.

import type { CatalogueQuery, EncodedPage, ListView } from '../catalogue/catalogue.ts';
import type { Uuid } from '../domain/uuid.ts';
import { type Coding, compress } from './content-coding.ts';
import { entityTag } from './entity-tag.ts';
import type { Reply } from './reply.ts';

/** For each of the four lists, before compression. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;

/** A page in one coding, and the two ways to answer with it. */
export interface Representation {
  readonly tag: string;
  readonly whole: Reply;
  readonly unchanged: Reply;
}

export class KeptPage {
  readonly cursor: Uuid | undefined;
  readonly #body: Uint8Array<ArrayBuffer>;
  readonly #representations = new Map<Coding | undefined, Representation>();

  constructor({ bytes, cursor }: EncodedPage) {
    this.cursor = cursor;
    this.#body = bytes;
  }

  get size(): number {
    return this.#body.length;
  }

  as(coding: Coding | undefined): Representation {
    const known = this.#representations.get(coding);
    if (known !== undefined) return known;
    const bytes = coding === undefined ? this.#body : compress(coding, this.#body);
    const made = represent(bytes, entityTag(this.#body, coding), coding);
    this.#representations.set(coding, made);
    return made;
  }
}

export class PageCache {
  /** The pages of a list go when the list does: a new import, or a coupon that starts or ends. */
  readonly #lists = new WeakMap<ListView, ListPages>();

  get(view: ListView, query: CatalogueQuery): KeptPage {
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
  #bytes = 0;

  constructor(view: ListView) {
    this.#view = view;
  }

  get(query: CatalogueQuery): KeptPage {
    const key = cacheKey(query);
    let page = this.#pages.get(key);
    if (page === undefined) {
      page = new KeptPage(this.#view.page(query));
      this.#bytes += page.size;
      this.#makeRoom();
    } else {
      this.#pages.delete(key);
    }
    // A Map keeps the order of insertion, so what was used last stands last.
    this.#pages.set(key, page);
    return page;
  }

  #makeRoom(): void {
    for (const [key, page] of this.#pages) {
      if (this.#bytes <= LIST_BYTES_MAX) return;
      this.#pages.delete(key);
      this.#bytes -= page.size;
    }
  }
}

/** A Response takes a Blob and a Headers object over as they are. Bytes and a record it copies: 7 µs of 27 that a page took. */
function represent(bytes: Uint8Array<ArrayBuffer>, tag: string, coding: Coding | undefined): Representation {
  // Of what describes the page, a 304 repeats only what a cache needs to go on with its copy.
  const unchanged = new Headers({
    'Cache-Control': 'public, max-age=60',
    Vary: 'Authorization, Accept-Encoding',
    ETag: tag,
  });
  const whole = new Headers(unchanged);
  whole.set('Content-Type', 'application/json');
  if (coding !== undefined) whole.set('Content-Encoding', coding);
  return {
    tag,
    whole: { status: 200, headers: whole, body: new Blob([bytes]) },
    unchanged: { status: 304, headers: unchanged, body: null },
  };
}

function cacheKey({ cursor, limit, name, category, country }: CatalogueQuery): string {
  const position = `${cursor ?? ''} ${limit}`;
  if (name === undefined && category === undefined && country === undefined) return position;
  // JSON, because a searched text may hold any character that could serve to separate it from the next.
  return `${position} ${JSON.stringify([name, category, country])}`;
}
