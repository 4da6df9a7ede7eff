// Activation links on deals, shown only if the server names an organisation for visitors, as the sandbox does. They are
// plain links like those on a partner's page.

import { element } from '../element.ts';
import type { ApiSubject } from './api-dialog.ts';

/** Returns undefined if visitors cannot activate deals. */
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
