// Everything that needs no token: health, the OpenAPI document, and the pages for people.

import { ERROR_CODES, ERRORS } from '../domain/errors.ts';
import { Assets, type AssetUrls } from './assets.ts';
import { errorList, errorPage } from './error-pages.ts';
import type { Exchange, Route } from './exchange.ts';
import { type ExplorerOptions, explorerPage, requirePublic } from './explorer-page.ts';
import { FAVICON, htmlPage } from './html-page.ts';
import { openApiDocument } from './openapi.ts';
import { referencePage } from './reference-page.ts';
import { json, type Reply } from './reply.ts';
import { StaticFile } from './static-file.ts';

const NO_STORE = { 'Cache-Control': 'no-store' };

export function sitePages(isReady: () => boolean, options: ExplorerOptions): Route[] {
  // Before anything is served, and not when the first page is asked for.
  requirePublic(options.pageToken);
  // Made when it is first asked for: it takes 30 ms, a tenth of the start.
  const document = once(openApiDocument);
  const printed = once(
    () => new StaticFile(JSON.stringify(document()), { 'Content-Type': 'application/json' }),
  );
  const assets = new Assets();
  const page = (path: string, make: (urls: AssetUrls) => StaticFile) => pageRoute(path, assets, make);
  return [
    open('/livez', () => json(200, { status: 'live' }, NO_STORE)),
    open('/readyz', () =>
      isReady()
        ? json(200, { status: 'ready' }, NO_STORE)
        : json(503, { status: 'not ready' }, { ...NO_STORE, 'Retry-After': '1' }),
    ),
    open('/openapi.json', (exchange) => printed().answer(exchange, 'public, max-age=300')),
    open('/favicon.svg', (exchange) => FAVICON.answer(exchange, 'public, max-age=86400')),
    ...assets.routes(),
    page('/', (urls) => explorerPage(options, urls)),
    page('/docs', (urls) => referencePage(document(), options, urls)),
    page('/errors/', (urls) =>
      htmlPage({ title: 'Errors · Offerbook', place: '/errors/', main: errorList() }, urls, options.explorer),
    ),
    ...ERROR_CODES.map((code) =>
      page(`/errors/${code}`, (urls) => {
        const title = `${ERRORS[code].title} · Offerbook`;
        return htmlPage({ title, place: '/errors/', main: errorPage(code) }, urls, options.explorer);
      }),
    ),
  ];
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function open(path: string, answer: (exchange: Exchange) => Reply): Route {
  return { path, openToBrowsers: true, answer };
}

/** A page may hold the sandbox's token, so pages from elsewhere must not read it. */
function pageRoute(path: string, assets: Assets, make: (urls: AssetUrls) => StaticFile): Route {
  let made: StaticFile | undefined;
  return {
    path,
    openToBrowsers: false,
    async answer(exchange) {
      made ??= make(await assets.urls());
      return made.answer(exchange, 'no-cache');
    },
  };
}
