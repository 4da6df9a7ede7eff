// Shows the sandbox's transactions as they change, and the webhooks that deliver them to a toy receiver, by polling every two
// seconds. The server holds the private token and polls the API for this page. Readers can pause the updates, as WCAG requires
// for content that updates automatically, and the updates pause when a reader opens a transaction. Rows slide in when
// data arrives; the rest of the page does not move, because its space is reserved from the start.

import { parseTimestamp, type Transaction } from '@offerbook/client';
import { codeSample, colouredNodes } from '../api-response.ts';
import { button, element, isolated } from '../element.ts';
import { countryName } from './country-name.ts';
import { type Delivery, deliveryPanel } from './delivery-panel.ts';
import { backLink, VISITOR } from './retailer-screen.ts';
import { slideIn } from './slide-in.ts';
import { EVERYTHING } from './view.ts';

const INTERVAL_MS = 2_000;
/** Older changes are removed from the page. */
const SHOWN_MAX = 50;
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

interface FeedPage {
  /** Newest first. */
  readonly data: readonly Transaction[];
  readonly completeThrough: string;
  /** The last webhooks that the toy receiver has stored, newest first. */
  readonly deliveries: readonly Delivery[];
}

export function feedScreen(path: string) {
  const status = element('p.muted');
  /** The latest change to a sale of this visitor. */
  const own = element(
    'p.own-sale.panel.muted',
    { role: 'status' },
    'Your own purchases appear here. Activate a deal and buy something.',
  );
  const webhooks = deliveryPanel();
  const list = element('ol.deals.panel.feed');
  const pause = button('Pause', () => (isOn ? stop() : start()));
  const empty = element(
    'p.notice',
    'No changes in the last few minutes. New sales arrive every few seconds.',
  );
  const columns = element('div.feed-columns.row', element('div.feed-changes', empty, list), webhooks.node);
  /** Status of each transaction when this page last received it. */
  const statuses = new Map<string, string>();
  let completeThrough: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOn = false;
  let isPolling = false;

  function start(): void {
    if (isOn) return;
    isOn = true;
    refresh();
    // A request that was in flight when updates were paused schedules the next one itself.
    if (!isPolling) void poll();
  }

  function stop(): void {
    isOn = false;
    clearTimeout(timer);
    refresh();
  }

  async function poll(): Promise<void> {
    isPolling = true;
    try {
      const since = completeThrough === undefined ? '' : `?since=${completeThrough}`;
      const response = await fetch(path + since);
      if (!response.ok) throw new Error(`status ${response.status}`);
      const page = (await response.json()) as FeedPage;
      // If the updates were paused meanwhile, the next request returns these changes again.
      if (isOn) add(page);
      refresh();
    } catch {
      status.textContent = 'No response from the sandbox. This page retries automatically.';
    }
    isPolling = false;
    if (isOn) timer = setTimeout(() => void poll(), INTERVAL_MS);
  }

  function add(page: FeedPage): void {
    webhooks.show(page.deliveries);
    const items = page.data
      .slice(0, SHOWN_MAX)
      .map((one) => feedItem(one, statuses.get(one.id), details(one, stop)));
    for (const { id, status } of page.data) statuses.set(id, status);
    const latestOwn = page.data.find(isOwn);
    if (latestOwn !== undefined) {
      own.classList.remove('muted');
      own.replaceChildren(...ownWords(latestOwn));
    }
    slideIn(list, items, SHOWN_MAX);
    completeThrough = page.completeThrough;
  }

  function refresh(): void {
    const through = completeThrough === undefined ? 'Loading…' : `Complete through ${completeThrough} UTC`;
    pause.textContent = isOn ? 'Pause' : 'Resume';
    status.textContent = isOn ? through : `${through}, paused`;
    columns.hidden = completeThrough === undefined;
    list.hidden = list.children.length === 0;
    empty.hidden = !list.hidden;
  }

  const node = element(
    'div.screen.retailer.feed-screen',
    backLink(EVERYTHING),
    element('h1', { tabindex: -1 }, 'Transactions as they change'),
    element(
      'p.lead',
      'What a server receives when it polls ',
      element('code', '/v1/transactions/?expand=retailer'),
      ' of this sandbox every two seconds. The private token stays on the server. ',
      element('a', { href: '/docs/polling' }, 'How polling works'),
    ),
    element('div.feed-head.row.between', status, pause),
    own,
    columns,
  );
  return { node, start, stop };
}

/** True for sales that visitors of the explorer caused. */
function isOwn({ passbackUid }: Transaction): boolean {
  return passbackUid === VISITOR;
}

function ownWords(transaction: Transaction): (HTMLElement | string)[] {
  const { status, cashback, currencyCode } = transaction;
  return [
    element('strong', 'Your purchase'),
    ' at ',
    shopName(transaction),
    ' is ',
    statusTag(status),
    ` · ${money(cashback, currencyCode)} cashback`,
  ];
}

/** `before` is the previous status; undefined if the transaction is new to this page. */
function feedItem(transaction: Transaction, before: string | undefined, document: HTMLElement): HTMLElement {
  const { status, country, cashback, orderValue, currencyCode, passbackUid, updatedAt } = transaction;
  const own = isOwn(transaction);
  return element(
    `li.deal.row${own ? '.own' : ''}`,
    element(`p.amount.${status.toLowerCase()}`, money(cashback, currencyCode)),
    element(
      'div.deal-body.stack',
      element('p.what', shopName(transaction)),
      element(
        'p.muted',
        `Order of ${money(orderValue, currencyCode)} in ${countryName(country)}`,
        ...(own ? [', your purchase'] : passbackUid === null ? [] : [', user ', isolated(passbackUid)]),
      ),
      document,
    ),
    element(
      'p.feed-status',
      statusTag(status),
      element(
        'span.muted',
        changeWords(before, status),
        element('time', { datetime: `${updatedAt}Z` }, TIME.format(parseTimestamp(updatedAt))),
      ),
    ),
  );
}

function shopName({ retailer }: Transaction): HTMLElement {
  return isolated(retailer?.name ?? 'Unknown retailer');
}

function statusTag(status: string): HTMLElement {
  const word = status.toLowerCase();
  return element(`span.tag.${word}`, status.charAt(0) + word.slice(1));
}

function changeWords(before: string | undefined, status: string): string {
  if (before === undefined) return '';
  return before === status ? 'changed, ' : `was ${before.toLowerCase()}, `;
}

/** Renders the JSON only when the reader expands it. */
function details(transaction: Transaction, onOpen: () => void): HTMLElement {
  const node = element('details.muted', element('summary', 'What the API returns'));
  const text = JSON.stringify(transaction, null, 2);
  const show = () => node.append(codeSample('Copy the transaction', ...colouredNodes(text, 'json')));
  node.addEventListener('toggle', show, { once: true });
  node.addEventListener('toggle', () => {
    if (node.open) onOpen();
  });
  return node;
}

/** In English, the formatted amounts distinguish dollars and crowns: A$, CA$, SEK, NOK. */
function money(amount: number, currency: string): string {
  return amount.toLocaleString('en', { style: 'currency', currency });
}
