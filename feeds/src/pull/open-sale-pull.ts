// Creates the pull of the network that a source file names.

import { awinPull } from '../networks/awin-pull.ts';
import { cjPull } from '../networks/cj-pull.ts';
import { impactPull } from '../networks/impact-pull.ts';
import { partnerizePull } from '../networks/partnerize-pull.ts';
import { rakutenPull } from '../networks/rakuten-pull.ts';
import type { Source } from '../source/source-file.ts';
import type { SalePull } from './sale-pull.ts';

/** Returns undefined if the network has no supported API. */
export function openSalePull(source: Source): SalePull | undefined {
  switch (source.network) {
    case 'awin':
      return awinPull(source);
    case 'impact':
      return impactPull(source);
    case 'partnerize':
      return partnerizePull(source);
    case 'cj':
      return cjPull(source);
    case 'rakuten':
      return rakutenPull(source);
    case 'table':
      return undefined;
  }
}
