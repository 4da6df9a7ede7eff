// The pages of the sandbox's toy shop: the articles, a basket for one of them, and the order, which explains what happens next.
// They work without a script.

import { type Html, html } from './html.ts';
import { type Frame, htmlPage, type Page } from './html-page.ts';

export interface ToyArticle {
  readonly name: string;
  readonly price: number;
  /** Cashback for the article, with the activated deal. */
  readonly cashback: number;
  readonly currency: string;
}

export interface ToyShop {
  readonly name: string;
  readonly category: string;
  readonly logoPath: string;
  readonly clickId: string;
  /** The page that the activation link asked for. */
  readonly requestedUrl: string | undefined;
  readonly articles: readonly ToyArticle[];
  /** Number of the article in the basket. */
  readonly chosen: number | undefined;
}

export interface ToyOrder {
  readonly shop: string;
  readonly price: number;
  readonly cashback: number;
  readonly currency: string;
  readonly status: 'PENDING' | 'CONFIRMED' | 'DECLINED';
}

export function toyShopPage(shop: ToyShop, frame: Frame): Page {
  const { name, category, logoPath, clickId, requestedUrl, articles, chosen } = shop;
  const main = html`<div class="screen toy-shop">
<header class="retailer-head row"><span class="logo"><img src="${logoPath}" alt=""></span>
<div><h1>${name}</h1><p class="muted">${category}</p></div>
<p class="tag">Toy shop of the sandbox: nothing is delivered</p></header>
<div class="shop-floor">
<ul class="articles">${articles.map((article, number) => articleItem(shop, article, number))}</ul>
${basket(chosen === undefined ? undefined : articles[chosen], chosen)}
</div>
<p class="muted">You came with the click id <code>${clickId}</code>. The shop sends it to the affiliate network with your order.${requestedUrl === undefined ? undefined : html` A real shop would show <code>${requestedUrl}</code>.`}</p>
</div>`;
  return toyPage(name, main, frame);
}

function articleItem({ requestedUrl, chosen }: ToyShop, article: ToyArticle, number: number): Html {
  const query = new URLSearchParams({
    ...(requestedUrl === undefined ? {} : { page: requestedUrl }),
    article: String(number),
  });
  const isChosen = number === chosen;
  const label = isChosen ? 'In your basket' : 'Add to basket';
  return html`<li class="article panel stack"><span class="article-picture" aria-hidden="true">${article.name.charAt(0)}</span>
<h2>${article.name}</h2>
<p class="price">${money(article.price, article.currency)}</p>
<a class="button" href="?${query.toString()}#basket"${isChosen ? html` aria-current="true"` : undefined} aria-label="${label}: ${article.name}">${label}</a></li>`;
}

function basket(article: ToyArticle | undefined, number = 0): Html {
  if (article === undefined) {
    return html`<section class="basket panel stack" id="basket"><h2>Your basket</h2><p class="muted">It is empty. Add something to place an order.</p></section>`;
  }
  const { name, price, cashback, currency } = article;
  return html`<section class="basket panel stack" id="basket"><h2>Your basket</h2>
<dl class="sums"><dt>${name}</dt><dd>${money(price, currency)}</dd><dt>Delivery</dt><dd>Free</dd><dt>Total</dt><dd><strong>${money(price, currency)}</strong></dd><dt>Your cashback</dt><dd class="best">${money(cashback, currency)}</dd></dl>
<form class="stack" method="post" action="?article=${number}"><button type="submit" class="primary">Place the order</button></form></section>`;
}

export function toyOrderPage(order: ToyOrder, frame: Frame): Page {
  const { shop, price, cashback, currency, status } = order;
  const isPending = status === 'PENDING';
  const main = html`<div class="screen narrow toy-shop">
<h1>Thank you for your order</h1>
<p class="lead">${shop} has received your order of ${money(price, currency)}. You earn ${money(cashback, currency)} cashback.</p>
<h2>What happens to the sale</h2>
<ol class="timeline">
<li class="done"><strong>Click.</strong> Offerbook recorded that you activated the deal.</li>
<li class="done"><strong>Order.</strong> The shop reports it to the affiliate network, with your click id.</li>
<li class="${isPending ? 'now' : 'done'}"><strong>Import.</strong> The sale is in the transactions as <span class="tag pending">Pending</span>. Partners receive it with their next poll.</li>
<li class="${isPending ? 'later' : 'done'}"><strong>Decision.</strong> ${isPending ? html`The shop confirms the sale within about a minute. Real shops wait until the order can no longer be returned.` : html`The shop has decided: the sale is <span class="tag ${status.toLowerCase()}">${status.charAt(0)}${status.slice(1).toLowerCase()}</span>.`}</li>
</ol>
<p><a class="button primary" href="/?view=transactions">See it arrive</a></p>
</div>`;
  return toyPage('Thank you', main, frame);
}

function toyPage(title: string, main: Html, frame: Frame): Page {
  return htmlPage({ title: `${title} · Toy shop`, section: undefined, main, submitsForms: true }, frame);
}

function money(amount: number, currency: string): string {
  return amount.toLocaleString('en', { style: 'currency', currency });
}
