// The page for shoppers whose activation link failed. Shoppers do not know Offerbook, so the page has no navigation and no
// technical terms. It does not repeat the link, which may contain personal data.

import type { Problem } from '@offerbook/client';
import { html } from './html.ts';
import { type Frame, type Page, plainPage } from './html-page.ts';

interface Explanation {
  readonly title: string;
  readonly text: string;
  readonly canRetry?: true;
}

const INCOMPLETE: Explanation = {
  title: 'This link is incomplete',
  text: 'Part of the link is missing or was changed, perhaps when it was copied. Go back to where you found it, and open it again.',
};

const TEMPORARY: Explanation = {
  title: 'We cannot take you to the shop right now',
  text: 'Please wait a moment, then try again.',
  canRetry: true,
};

/** The other errors are temporary. */
const EXPLANATIONS: Partial<Record<Problem['code'], Explanation>> = {
  deal_not_found: {
    title: 'This link does not work',
    text: 'The deal may have been withdrawn, or part of the link may be missing. Go back to where you found it to see other deals.',
  },
  deal_gone: {
    title: 'This deal has ended',
    text: 'The shop no longer offers it. Go back to where you found it to see other deals.',
  },
  invalid_parameter: INCOMPLETE,
  uri_too_long: INCOMPLETE,
  not_found: INCOMPLETE,
  rate_limited: {
    title: 'Too many links were opened',
    text: 'Many links were opened from your network within a short time. Please wait a minute, then try again.',
    canRetry: true,
  },
};

/** Shows the request id for support, because the operator's log contains it. */
export function linkErrorPage(code: Problem['code'], requestId: string, frame: Frame): Page {
  const { title, text, canRetry } = EXPLANATIONS[code] ?? TEMPORARY;
  const main = html`<div class="screen narrow prose">
<h1>${title}</h1>
<p class="lead">${text}</p>
<p>Your cashback is not active. You would not earn any if you bought something at the shop now.</p>
${canRetry && html`<p><a class="button primary" href="">Try again</a></p>`}
<p class="muted">If the problem remains, contact the website or app that showed you the link, and quote this number: <code>${requestId}</code></p>
</div>`;
  return plainPage({ title, main }, frame);
}
