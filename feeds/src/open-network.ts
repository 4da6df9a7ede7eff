// Creates the network that a source file names.

import type { Network } from './network.ts';
import { awin } from './networks/awin.ts';
import { cj } from './networks/cj.ts';
import { impact } from './networks/impact.ts';
import { partnerize } from './networks/partnerize.ts';
import { rakuten } from './networks/rakuten.ts';
import { table } from './networks/table.ts';
import type { Source } from './source/source-file.ts';

/** `nowMs` determines the age of sales, for networks that never confirm them. */
export function openNetwork(source: Source, nowMs: number): Network {
  switch (source.network) {
    case 'awin':
      return awin(source);
    case 'impact':
      return impact();
    case 'partnerize':
      return partnerize(source);
    case 'cj':
      return cj(source);
    case 'rakuten':
      return rakuten(source, nowMs);
    case 'table':
      return table(source);
  }
}
