// The page at `/`: the explorer, or, where the operator has switched it off, a short welcome.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import { parseTokenKind } from '../../domain/access-token.ts';
import type { StaticFile } from '../content/static-file.ts';
import { html } from './html.ts';
import { type Frame, htmlPage } from './html-page.ts';

/** What pages have in the sandbox only. */
export interface SandboxPages {
  /** A public token for everyone who opens a page; undefined to ask for one. */
  readonly pageToken?: string | undefined;
  /** Where the explorer finds transactions that everyone may see; undefined for none. */
  readonly feedPath?: string | undefined;
  /** The public id of an organisation for which visitors may activate deals; undefined for none. */
  readonly pageOrg?: Uuid | undefined;
}

export interface ExplorerOptions extends SandboxPages {
  /** Origins from which logos may be loaded, or `https:` for all. */
  readonly explorerLogos: readonly string[];
  /** Of fixed cashbacks, as ISO 4217; undefined to show bare numbers. */
  readonly currency: string | undefined;
}

/** A private token in a page would be a leak. */
export function requirePublic(pageToken: string | undefined): void {
  if (pageToken !== undefined && parseTokenKind(pageToken) !== 'public') {
    throw new Error('only a public token may be put into a page');
  }
}

export function explorerPage(options: ExplorerOptions, frame: Frame): StaticFile {
  if (frame.explorer === 'off') return htmlPage({ title: 'Offerbook', place: '/', main: WELCOME }, frame);
  return htmlPage(
    {
      title: 'Offerbook',
      place: '/',
      main: html`<noscript><div class="screen narrow"><h1>Offerbook</h1><p>The explorer needs JavaScript. The <a href="/docs">API reference</a> does not.</p></div></noscript>`,
      script: frame.urls['/assets/catalogue.js'],
      imageSources: options.explorerLogos,
      meta: {
        'offerbook-token': options.pageToken,
        'offerbook-currency': options.currency,
        'offerbook-feed': options.feedPath,
        'offerbook-org': options.pageOrg,
        'offerbook-logos': options.explorerLogos.length === 0 ? undefined : options.explorerLogos.join(' '),
      },
    },
    frame,
  );
}

const WELCOME = html`<div class="screen narrow prose">
<h1>Offerbook</h1>
<p class="lead">Retailers with their cashback offers, coupons and promotions, and the transactions of your users, over HTTP.</p>
<p>The <a href="/docs">API reference</a> shows every operation, also as an <a href="/openapi.json">OpenAPI 3.1 document</a>. <a href="/errors/">Errors</a> says what each error means and what to do about it.</p>
<p>Every operation needs a bearer token; ask the operator of this service for one.</p>
</div>`;
