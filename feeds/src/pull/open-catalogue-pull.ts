// Opens the catalogue pull for a source file.

import { awinCatalogue } from '../networks/awin-catalogue-pull.ts';
import { cjCatalogue } from '../networks/cj-catalogue-pull.ts';
import { impactCatalogue } from '../networks/impact-catalogue-pull.ts';
import { partnerizeCatalogue } from '../networks/partnerize-catalogue-pull.ts';
import { rakutenCatalogue } from '../networks/rakuten-catalogue-pull.ts';
import type { Source } from '../source/source-file.ts';
import type { CataloguePull } from './catalogue-pull.ts';

/** Returns undefined if the network has no supported API, or if the source file lacks a setting for it. */
export function openCataloguePull(source: Source): CataloguePull | undefined {
  switch (source.network) {
    case 'awin':
      return awinCatalogue(source);
    case 'impact':
      return impactCatalogue(source);
    case 'partnerize':
      return partnerizeCatalogue(source);
    case 'cj':
      return source.website === undefined ? undefined : cjCatalogue(source, source.website);
    case 'rakuten':
      return rakutenCatalogue();
    case 'table':
      return undefined;
  }
}
