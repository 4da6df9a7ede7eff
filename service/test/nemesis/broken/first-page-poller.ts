// An open walk that looks at the first page's Complete-Through only, even when a later page says that it is
// complete through less.

import type { Timestamp } from '../../../src/domain/timestamp.ts';
import { OpenWalkPoller } from '../pollers/open-walk-poller.ts';
import type { FetchPage } from '../pollers/poller.ts';

export class FirstPagePoller extends OpenWalkPoller {
  constructor(fetchPage: FetchPage) {
    let first: Timestamp | undefined;
    super(async (query) => {
      const page = await fetchPage(query);
      if (query.cursor === undefined) first = page.completeThrough;
      return { ...page, completeThrough: first ?? page.completeThrough };
    });
  }
}
