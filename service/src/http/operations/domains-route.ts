// Serves the list of domains from memory. The page is copied once per snapshot and compressed once per coding. It is large, and
// extensions fetch it every hour, so it is compressed in another thread, at a higher level than other pages.

import type { DomainList } from '../../catalogue/domain-list.ts';
import type { EncodedPage } from '../../catalogue/tables/page-writer.ts';
import { type Coding, chooseCoding, compressInThread } from '../content/content-coding.ts';
import { pageReply, Representation } from '../content/page-cache.ts';
import type { Handler, Services } from './operation.ts';
import { parseQuery } from './query.ts';

export function domainsRoute({ catalogue }: Services): Handler {
  let list: DomainList | undefined;
  let page: EncodedPage;
  let representations: Map<Coding | undefined, Promise<Representation>>;

  return async (exchange) => {
    parseQuery(exchange.search, []);
    if (list !== catalogue.domains) {
      list = catalogue.domains;
      page = list.page();
      representations = new Map();
    }
    const encoded = page;
    const accepted = exchange.request.headers.get('Accept-Encoding');
    const coding = chooseCoding(accepted, encoded.bytes.length, Number.POSITIVE_INFINITY);
    // Requests that arrive during the compression share it.
    const representation = representations.get(coding) ?? represent(encoded, coding);
    representations.set(coding, representation);
    return pageReply(await representation, encoded, exchange, catalogue.nowMs);
  };
}

async function represent(page: EncodedPage, coding: Coding | undefined): Promise<Representation> {
  const compressed = coding === undefined ? undefined : await compressInThread(coding, page.bytes, 'good');
  return new Representation(page, coding, compressed);
}
