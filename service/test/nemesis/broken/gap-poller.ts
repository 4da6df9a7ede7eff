// A poller without protection 4: it treats an exclusive bound as inclusive, so that the windows (…, T) and (T, …) both exclude
// changes stamped T.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import { TilingPoller } from '../../chaos/traffic/pollers/tiling-poller.ts';

export class GapPoller extends TilingPoller {
  protected override lessThan(end: Timestamp): Timestamp {
    return end;
  }
}
