// Serves the list of domains from memory. The page is copied once per snapshot and compressed once per coding. It is large, and
// extensions fetch it every hour, so it is compressed in another thread, at a higher level than other pages.

import type { DomainList } from '../../catalogue/domain-list.ts';
import type { EncodedPage } from '../../catalogue/tables/page-writer.ts';
import { type Coding, chooseCoding, compressWell } from '../content/content-coding.ts';
import { matchesTag } from '../content/entity-tag.ts';
import { cacheControl, Representation } from '../content/page-cache.ts';
import type { Answer, Services } from './operation.ts';
import { parseQuery } from './query.ts';

export function domainsRoute({ catalogue }: Services): Answer {
  let current: DomainsPage | undefined;

  return async (exchange) => {
    parseQuery(exchange.search, []);
    if (current?.list !== catalogue.domains) current = new DomainsPage(catalogue.domains);
    const { encoded } = current;
    const { headers } = exchange.request;
    const coding = chooseCoding(
      headers.get('Accept-Encoding'),
      encoded.bytes.length,
      Number.POSITIVE_INFINITY,
    );
    const representation = await current.as(coding);
    const reply = matchesTag(headers.get('If-None-Match'), representation.tag)
      ? representation.unchanged
      : representation.whole;
    return { ...reply, cacheControl: cacheControl(encoded, catalogue.nowMs) };
  };
}

class DomainsPage {
  readonly list: DomainList;
  readonly encoded: EncodedPage;
  readonly #representations = new Map<Coding | undefined, Promise<Representation>>();

  constructor(list: DomainList) {
    this.list = list;
    this.encoded = list.page();
  }

  /** Requests that arrive during the compression share it. */
  as(coding: Coding | undefined): Promise<Representation> {
    let representation = this.#representations.get(coding);
    if (representation === undefined) {
      representation = this.#represent(coding);
      this.#representations.set(coding, representation);
    }
    return representation;
  }

  async #represent(coding: Coding | undefined): Promise<Representation> {
    if (coding === undefined) return new Representation(this.encoded, coding);
    return new Representation(this.encoded, coding, await compressWell(coding, this.encoded.bytes));
  }
}
