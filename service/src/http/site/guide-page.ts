// A guide as a page.

import type { StaticFile } from '../content/static-file.ts';
import type { AssetUrls } from './assets.ts';
import { type Documentation, docsPage } from './docs-frame.ts';
import type { ExplorerOptions } from './explorer-page.ts';

export function guidePage(
  path: string,
  documentation: Documentation,
  urls: AssetUrls,
  options: Pick<ExplorerOptions, 'explorer'>,
): StaticFile {
  const guide = documentation.guides.find((one) => one.path === path);
  if (guide === undefined) throw new Error(`there is no guide at ${path}`);
  return docsPage({ path, title: guide.title, body: guide.body }, documentation, urls, options);
}
