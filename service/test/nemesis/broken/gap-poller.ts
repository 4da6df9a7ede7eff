// A poller without protection 4: it takes both bounds for what they are not, so that (…, T) and (T, …) leave
// out what is stamped T.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import { TilingPoller } from '../pollers/tiling-poller.ts';

export class GapPoller extends TilingPoller {
  protected override lessThan(end: Timestamp): Timestamp {
    return end;
  }
}
