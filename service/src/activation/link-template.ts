// Inserts a click into a link template (see wire/src/link-template.ts).

import { PLACEHOLDER } from '@offerbook/wire/link-template.ts';
import type { ClickId } from '../domain/click.ts';

/** Returns the URL for a click. `url` is the shop page that the link finally redirects to. */
export function fillTemplate(template: string, click: ClickId, url: string): string {
  // A replacer function, because dollar signs are special in replacement strings.
  return template.replace(PLACEHOLDER, (placeholder) =>
    placeholder === '{click}' ? click : encodeURIComponent(url),
  );
}
