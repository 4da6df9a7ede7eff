// The page at `/`: the explorer, or a short welcome where the operator has switched the explorer off.

import { html } from './html.ts';
import { type Frame, htmlPage, type Page } from './html-page.ts';

/** Access for visitors without a token of their own, as in a demo. It is part of the pages, so everyone can read it. */
export interface GuestAccess {
  /** A public token. */
  readonly token: string;
  /** Path of transactions that everyone may see; undefined for none. */
  readonly feedPath?: string | undefined;
  /** Public id of the organisation for which visitors activate deals; undefined: no activation. */
  readonly orgId?: string | undefined;
}

export interface ExplorerOptions {
  /** Undefined: visitors enter a token. */
  readonly guest?: GuestAccess | undefined;
  /** Origins from which logos may be loaded, or `https:` for all. */
  readonly explorerLogos: readonly string[];
  /** Currency of fixed cashbacks, ISO 4217; undefined: show bare numbers. */
  readonly currency: string | undefined;
}

export function explorerPage(options: ExplorerOptions, frame: Frame): Page {
  if (frame.explorer === 'off') return htmlPage({ title: 'Offerbook', place: '/', main: WELCOME }, frame);
  return htmlPage(
    {
      title: 'Offerbook',
      place: '/',
      main: html`<noscript><div class="screen narrow"><h1>Offerbook</h1><p>The explorer needs JavaScript. The <a href="/docs">API reference</a> does not.</p></div></noscript>`,
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
<p class="lead">Retailers with their cashback offers, coupons and promotions, and the transactions of your users, over HTTP.</p>
<p>The <a href="/docs">API reference</a> shows every operation, also as an <a href="/openapi.json">OpenAPI 3.1 document</a>. <a href="/errors/">Errors</a> explains each error and what to do about it.</p>
<p>Every operation needs a bearer token; ask the operator of this service for one.</p>
</div>`;
