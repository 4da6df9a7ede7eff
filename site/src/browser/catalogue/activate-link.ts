// Activation links for deals, shown only if the page settings name an organisation, as in the sandbox. Activation links are
// plain links, like those on a partner's page.

import { element } from '../element.ts';
import { SETTINGS } from '../page-settings.ts';
import type { ApiSubject } from './api-dialog.ts';

/** The user for whom visitors of the explorer activate deals. */
export const VISITOR = 'visitor-of-the-explorer';

/** Returns undefined if readers cannot activate deals. */
export function activateLink({ list, id, name }: ApiSubject): HTMLElement | undefined {
  const { orgId } = SETTINGS;
  if (orgId === undefined) return undefined;
  const query = new URLSearchParams({ orgId, passbackUid: VISITOR });
  return element(
    'a.button.primary.activate',
    {
      href: `/v1/${list}/${id}/activate/?${query}`,
      'aria-label': `Activate ${name.slice(0, 60)}`,
    },
    'Activate',
  );
}
