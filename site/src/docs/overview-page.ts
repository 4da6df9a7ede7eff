// The page at /docs: what the service does, where each kind of reader starts, and what happens between a click and a
// payment.

import { type Html, html } from '../html.ts';
import type { Frame, Page } from '../html-page.ts';
import { type ApiDocument, activationOperations } from './api-document.ts';
import { sampleBlock } from './code-colours.ts';
import { type Documentation, docsPage } from './docs-page.ts';

const STAGES = [
  ['Click', 'Your user activates a deal', ''],
  ['Purchase', 'The user buys at the shop', ''],
  ['Report', 'The network reports the sale', ''],
  ['PENDING', 'Show the expected cashback', 'pending'],
  ['CONFIRMED', 'Pay the cashback', 'confirmed'],
  ['DECLINED', 'Pay nothing', 'declined'],
];

const DESCRIPTION =
  'Your user activates a deal and buys at the shop. The affiliate network reports the sale, and your next poll returns it as PENDING. Later it becomes CONFIRMED, and you pay the cashback, or DECLINED, and you pay nothing.';

export function overviewPage(documentation: Documentation, frame: Frame): Page {
  const hasActivation = activationOperations(documentation.document).length > 0;
  const body = html`<h1>Documentation</h1>
<p class="lead">Offerbook is an HTTP API for shopping rewards. It lists retailers with their cashback offers, coupons and promotions${hasActivation ? ', sends your users to the shops,' : undefined} and reports what your users bought.</p>
<h2 id="start">Where to start</h2>
<ul class="readers">${readers(hasActivation)}</ul>
<h2 id="transaction">The life of a transaction</h2>
${transactionPicture()}
<p>The shop decides which purchases count, often weeks later. Until then, a transaction is <code>PENDING</code>. No status is final: a late return can turn <code>CONFIRMED</code> into <code>DECLINED</code>. <a href="/docs/polling#the-life-of-a-status">When to pay users</a></p>
<h2 id="requests">How requests work</h2>
<p>All operations are under <code>/v1/</code> and return JSON. Send a token with every request${hasActivation ? ' except activation' : undefined}: <code>Authorization: Bearer …</code>. Public tokens (<code>ob_pub_</code>) read the catalogue and may be used in browsers. Private tokens (<code>ob_prv_</code>) read transactions and must stay on your servers.</p>
${firstRequest(documentation.document)}
<p>Every error has a stable <code>code</code> and <a href="/errors/">its own page</a>, which explains what to do. The <a href="/docs/reference">API reference</a> describes every operation and has a form to try it; the <a href="/openapi.json">OpenAPI document</a> is the same for tools.</p>`;
  return docsPage({ path: '/docs', title: 'Documentation', body }, documentation, frame);
}

function readers(hasActivation: boolean): Html[] {
  return [
    reader(
      'You show deals to users',
      'Fetch offers, coupons and promotions in a page, an app or a browser extension, with a public token.',
      [
        ['/docs/getting-started', 'Make a first request'],
        ['/docs/limits#pages', 'Fetch every page'],
        ...(hasActivation ? [['/docs/activation', 'Send users to a shop'] as const] : []),
      ],
    ),
    reader(
      'You credit users',
      'Keep a complete copy of your users’ transactions on your server, with a private token.',
      [
        ['/docs/polling', 'Poll without missing a change'],
        ['/docs/webhooks', 'Receive changes by webhook'],
        ['/docs/client', 'Use the client library'],
        ['/docs/look-ups', 'Look up one transaction'],
      ],
    ),
    reader(
      'You run the service',
      html`Import the catalogue and the sales with the command line. <code>offerbook doctor</code> checks an installation, and the console shows how it is doing.`,
      [
        ['/docs/operations/installing', 'Install and upgrade'],
        ['/docs/operations/imports', 'Import the data'],
        ['/docs/operations/monitoring', 'Monitor it'],
        ['/docs/operations', 'Operations guide'],
      ],
    ),
  ];
}

function reader(title: string, about: string | Html, links: readonly (readonly [string, string])[]): Html {
  return html`<li class="reader panel stack"><h3>${title}</h3><p class="muted">${about}</p><ul class="reader-links stack">${links.map(([path, label]) => html`<li><a href="${path}">${label}</a></li>`)}</ul></li>`;
}

function firstRequest({ paths }: ApiDocument): Html | undefined {
  const sample = paths['/v1/retailers/']?.get['x-codeSamples'][0];
  return sample === undefined ? undefined : sampleBlock(sample.label, sample.source);
}

/** Shows what happens from the click to the payment. The style sheet draws the arrows. */
function transactionPicture(): Html {
  const stages = STAGES.map(
    ([title, text, status]) => html`<li class="stage panel ${status}"><strong>${title}</strong>${text}</li>`,
  );
  return html`<figure class="stack"><ol class="stages">${stages}</ol><figcaption class="muted">${DESCRIPTION}</figcaption></figure>`;
}
