// The page at `/`: the explorer, or a short welcome if the operator has switched the explorer off.

import { html } from './html.ts';
import { type Frame, htmlPage, type Page } from './html-page.ts';

/** Access for visitors who have no token, as in the sandbox. The pages contain these values, so anyone can read them. */
export interface GuestAccess {
  /** A public token. */
  readonly token: string;
  /** Path of a public transaction feed. */
  readonly feedPath?: string | undefined;
  /** Public id of the organisation for which visitors activate deals; undefined if they cannot. */
  readonly orgId?: string | undefined;
}

export interface ExplorerOptions {
  /** Undefined if visitors enter their own token. */
  readonly guest?: GuestAccess | undefined;
  /** Origins from which the page is allowed to load logos, or `https:` for all. */
  readonly explorerLogos: readonly string[];
  /** Currency of fixed cashback amounts (ISO 4217); if undefined, the explorer shows bare numbers. */
  readonly currency: string | undefined;
}

export function explorerPage(options: ExplorerOptions, frame: Frame): Page {
  if (frame.explorer === 'off') return htmlPage({ title: 'Offerbook', section: '/', main: WELCOME }, frame);
  return htmlPage(
    {
      title: 'Offerbook',
      section: '/',
      main: html`<div class="explorer"><noscript><div class="screen narrow"><h1>Offerbook</h1><p>The explorer needs JavaScript. The <a href="/docs">documentation</a> works without it.</p></div></noscript></div>`,
      script: frame.urls['/assets/catalogue.js'],
      imageSources: options.explorerLogos,
      meta: {
        'offerbook-token': options.guest?.token,
        'offerbook-currency': options.currency,
        'offerbook-feed': options.guest?.feedPath,
        'offerbook-org': options.guest?.orgId,
        'offerbook-logos': options.explorerLogos.length === 0 ? undefined : options.explorerLogos.join(' '),
      },
    },
    frame,
  );
}

const WELCOME = html`<div class="screen narrow prose">
<h1>Offerbook</h1>
<p class="lead">An HTTP API for retailers with cashback offers, coupons and promotions, and for the transactions of your users.</p>
<p>The <a href="/docs/reference">API reference</a> describes every operation; so does the <a href="/openapi.json">OpenAPI 3.1 document</a>. The <a href="/errors/">error pages</a> explain what each error means and what to do about it.</p>
<p>Requests need a bearer token. Ask the operator of this service for one.</p>
</div>`;
