// Everything that needs no token: health, the OpenAPI document, the reference and the pages of the errors.

import { ERROR_CODES, ERRORS } from '../domain/errors.ts';
import type { Route } from './exchange.ts';
import { escapeHtml, htmlPage } from './html-page.ts';
import { openApiDocument } from './openapi.ts';
import { referencePage } from './reference-page.ts';
import { json, type Reply } from './reply.ts';

const CACHED = { 'Cache-Control': 'public, max-age=300' };

export function sitePages(isReady: () => boolean): Route[] {
  const document = JSON.stringify(openApiDocument());
  return [
    page('/livez', () => json(200, { status: 'live' }, { 'Cache-Control': 'no-store' })),
    page('/readyz', () =>
      isReady()
        ? json(200, { status: 'ready' }, { 'Cache-Control': 'no-store' })
        : json(503, { status: 'not ready' }, { 'Cache-Control': 'no-store', 'Retry-After': '1' }),
    ),
    page('/openapi.json', () => ({
      status: 200,
      headers: { 'Content-Type': 'application/json', ...CACHED },
      body: document,
    })),
    constant('/', htmlPage('Offerbook', HOME)),
    constant('/docs', referencePage(openApiDocument())),
    constant('/errors/', htmlPage('Errors', errorList())),
    ...ERROR_CODES.map((code) => constant(`/errors/${code}`, errorPage(code))),
  ];
}

function page(path: string, answer: () => Reply): Route {
  return { path, openToBrowsers: true, answer };
}

function constant(path: string, reply: Reply): Route {
  return page(path, () => reply);
}

const HOME = `<h1>Offerbook</h1>
<p>Retailers with their cashback offers, coupons and promotions, and the transactions of your users, over HTTP.</p>
<ul>
  <li><a href="/docs">API reference</a>, also as <a href="/openapi.json">OpenAPI 3.1</a></li>
  <li><a href="/errors">Errors</a>: what each one means and what to do about it</li>
</ul>
<p>Every operation needs a bearer token; ask the operator of this service for one.</p>
<pre>curl -H "Authorization: Bearer $OFFERBOOK_TOKEN" '${'/v1/retailers/'}'</pre>`;

function errorList(): string {
  const rows = ERROR_CODES.map(
    (code) =>
      `<tr><td>${ERRORS[code].status}</td><td><a href="/errors/${code}"><code>${code}</code></a></td><td>${escapeHtml(ERRORS[code].title)}</td></tr>`,
  );
  return `<h1>Errors</h1><table><thead><tr><th>Status</th><th>Code</th><th>Title</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function errorPage(code: (typeof ERROR_CODES)[number]): Reply {
  const { status, title, meaning, remedy } = ERRORS[code];
  return htmlPage(
    title,
    `<p><a href="/errors">Errors</a></p><h1>${escapeHtml(title)}</h1>
<p>Status ${status}, code <code>${code}</code></p>
<h2>What it means</h2><p>${escapeHtml(meaning)}</p>
<h2>What to do</h2><p>${escapeHtml(remedy)}</p>`,
  );
}
