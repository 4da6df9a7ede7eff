// The link by which a visitor activates a deal, where the server lets visitors do that: the sandbox does. It is a plain
// link, as a partner would put it into a page.

import { element } from '../element.ts';
import type { ApiSubject } from './api-dialog.ts';

/** Undefined where visitors cannot activate anything. */
export type ActivateLink = (deal: ApiSubject) => HTMLElement | undefined;

const VISITOR = 'visitor-of-the-explorer';

export function activateLinks(page: Document): ActivateLink {
  const org = page.querySelector<HTMLMetaElement>('meta[name="offerbook-org"]')?.content;
  if (org === undefined) return () => undefined;
  const query = new URLSearchParams({ orgId: org, passbackUid: VISITOR });
  return ({ list, id, name }) =>
    element(
      'a',
      {
        class: 'button activate',
        href: `/v1/${list}/${id}/activate/?${query}`,
        'aria-label': `Activate ${name.slice(0, 60)}`,
      },
      'Activate',
    );
}
