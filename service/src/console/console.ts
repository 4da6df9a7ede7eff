// The operator console: routes requests on the admin port to its pages. The caller has already checked access.

import {
  type ConsolePage,
  databaseFailure,
  framedPage,
  NO_SUCH_PAGE,
} from '@offerbook/site/console/console-page.ts';
import { isStorageError } from '../domain/storage-error.ts';
import type { Stores } from '../domain/stores.ts';
import { type Exchange, openExchange } from '../http/exchange.ts';
import { openAssets, openRoute } from '../http/pages/assets.ts';
import { FAVICON, pageHeaders } from '../http/pages/page-file.ts';
import type { Reply } from '../http/reply.ts';
import { buildRouter, type Method, type Route } from '../http/router.ts';
import { CatalogueReader } from './counts/catalogue-contents.ts';
import { ClickCounter } from './counts/click-totals.ts';
import type { ConsoleSettings, MakePage, NodeView } from './page-context.ts';
import { cataloguePage } from './pages/catalogue.ts';
import { clicksPage } from './pages/clicks.ts';
import { errorsPage } from './pages/errors.ts';
import { importPage } from './pages/import.ts';
import { importsPage } from './pages/imports.ts';
import { organisationsPage } from './pages/organisations.ts';
import { overviewPage } from './pages/overview.ts';
import { pullsPage } from './pages/pulls.ts';
import { totalsFile, totalsPage } from './pages/totals.ts';
import { transactionPage } from './pages/transaction.ts';
import { transactionSearch, transactionsPage } from './pages/transactions.ts';
import { webhooksPage } from './pages/webhooks.ts';

export type Console = (request: Request, node: NodeView) => Promise<Reply>;

/** A console request with the node's state. */
interface ConsoleExchange extends Exchange {
  readonly node: NodeView;
}

const PAGES: readonly (readonly [Method, string, MakePage])[] = [
  ['GET', '/', overviewPage],
  ['GET', '/catalogue', cataloguePage],
  ['GET', '/imports', importsPage],
  ['GET', '/imports/{id}', importPage],
  ['GET', '/pulls', pullsPage],
  ['GET', '/organisations', organisationsPage],
  ['GET', '/webhooks', webhooksPage],
  ['GET', '/transactions', transactionsPage],
  // Searches use POST: a passbackUid may identify a person, so it must not be in a URL.
  ['POST', '/transactions', transactionSearch],
  ['GET', '/transactions/{id}', transactionPage],
  ['GET', '/totals', totalsPage],
  ['GET', '/totals.csv', totalsFile],
  ['GET', '/clicks', clicksPage],
  ['GET', '/errors', errorsPage],
];

export function buildConsole(stores: () => Promise<Stores>, settings: ConsoleSettings): Console {
  const assets = openAssets(['/assets/console.js', '/assets/console.css']);
  const catalogue = new CatalogueReader();
  const clicks = new ClickCounter();

  async function reply(page: ConsolePage, path: string, { nowMs }: NodeView): Promise<Reply> {
    const framed = framedPage(page, path, nowMs, await assets.urls());
    const headers = new Headers({
      ...pageHeaders(framed),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    return { status: page.status ?? 200, headers, body: framed.text };
  }

  async function answer(make: MakePage, exchange: ConsoleExchange): Promise<Reply> {
    const { node, request, search, parameters, path } = exchange;
    const form = new URLSearchParams(request.method === 'POST' ? await request.text() : '');
    const query = new URLSearchParams(search);
    try {
      const page = await make({ ...settings, node, stores, catalogue, clicks, query, form, parameters });
      return 'headers' in page ? page : reply(page, path, node);
    } catch (error) {
      if (!isStorageError(error)) throw error;
      return reply(databaseFailure(error.message), path, node);
    }
  }

  const pages = PAGES.map(([method, path, make]): Route<ConsoleExchange> => {
    return { method, path, openToBrowsers: false, answer: (exchange) => answer(make, exchange) };
  });
  const favicon = openRoute('/favicon.svg', async (exchange) => FAVICON.answer(exchange, 'max-age=86400'));
  const findRoute = buildRouter([...pages, favicon, ...assets.routes]);

  return async (request, node) => {
    const exchange: ConsoleExchange = { ...openExchange(request), node };
    const found = findRoute(exchange.path);
    if (found === undefined) return reply(NO_SUCH_PAGE, exchange.path, node);
    const route = found.resource.routes.get(request.method);
    if (route === undefined) return methodNotAllowed(found.resource.allow);
    exchange.parameters = found.parameters;
    return route.answer(exchange);
  };
}

function methodNotAllowed(allow: string): Reply {
  return {
    status: 405,
    headers: new Headers({
      Allow: allow,
      'Content-Type': 'text/plain; charset=utf-8',
      'Cache-Control': 'no-store',
    }),
    body: 'Method not allowed\n',
  };
}
