// CJ's requests. Sales: corrections are new records with their own posting date. A record that is locked keeps its posting date,
// so a second stream reads records by locking date. Catalogue: the advertisers that the publisher has joined, and their links with
// promotions; both lists are XML.

import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { printSecond } from '@offerbook/wire/timestamp.ts';
import {
  ACCEPT_XML,
  bearerAuthorisation,
  type CatalogueList,
  type CataloguePull,
  get,
  numberedPages,
  type PulledPage,
  type PullWindow,
  postJson,
  type SalePull,
  stream,
  unexpected,
} from '../pull/network-pull.ts';
import type { SourceOf } from '../source/source-file.ts';

/** The fields that the conversion reads. */
const FIELDS = [
  'commissionId',
  'original',
  'originalActionId',
  'actionStatus',
  'validationStatus',
  'actionTrackerId',
  'advertiserId',
  'clickDate',
  'eventDate',
  'postingDate',
  'lockingDate',
  'saleAmountPubCurrency',
  'pubCommissionAmountPubCurrency',
  'country',
  'coupon',
  'shopperId',
];

const DATES = { posting: 'Posting', locking: 'Locking', reread: 'Event' };
const CATALOGUE_PAGE_SIZE = 100;

export function pullSales({ account }: SourceOf<'cj'>): SalePull {
  return {
    streams: [
      stream('posting', 30),
      // CJ publishes when a record is due to be locked, not when it was. Records that are locked late are read again.
      stream('locking', 30, { overlapMs: 3 * DAY_MS }),
    ],
    reread: stream('reread', 30),
    // The published limit of CJ's other services. CJ does not publish a limit for this service.
    rate: { requests: 25, perMs: MINUTE_MS },
    request: (name, window, position) =>
      postJson('https://commissions.api.cj.com/query', {
        query: buildQuery(account, name as keyof typeof DATES, window, position),
      }),
    next: findNext,
    errorsAreFinal: true,
    parts: { fields: FIELDS.filter((name) => name !== 'shopperId'), subIdField: 'shopperId' },
    authorise: ({ token = '' }) => bearerAuthorisation(token),
  };
}

function buildQuery(
  account: string,
  name: keyof typeof DATES,
  { fromMs, toMs }: PullWindow,
  position: string | undefined,
): string {
  const dates = DATES[name];
  const rules = [
    `forPublishers: [${JSON.stringify(account)}]`,
    `since${dates}Date: "${printSecond(fromMs)}Z"`,
    `before${dates}Date: "${printSecond(toMs)}Z"`,
    ...(position === undefined ? [] : [`sinceCommissionId: ${JSON.stringify(position)}`]),
  ];
  return `{ publisherCommissions(${rules.join(', ')}) { count limit payloadComplete maxCommissionId records { ${FIELDS.join(' ')} } } }`;
}

/** A response without this information must not count as the last page, because records would be missed. */
function findNext({ response }: PulledPage, position: string | undefined): string | undefined {
  const list = 'data.publisherCommissions';
  const isComplete = response?.find(`${list}.payloadComplete`);
  if (isComplete === true) return undefined;
  const last = response?.findText(`${list}.maxCommissionId`);
  if (isComplete !== false || last === undefined || last === position) {
    throw unexpected('the response', 'does not indicate where the next page starts');
  }
  return last;
}

/** Undefined without `website`, the id of the publisher's site (PID). */
export function pullCatalogue({ account, website }: SourceOf<'cj'>): CataloguePull | undefined {
  if (website === undefined) return undefined;
  const list = (feed: string, service: string, query: Readonly<Record<string, string>>): CatalogueList => ({
    feed,
    ...numberedPages,
    request: (position = '1') =>
      get(
        `https://${service}.api.cj.com/v2/${service}`,
        {
          ...query,
          'advertiser-ids': 'joined',
          'page-number': position,
          'records-per-page': String(CATALOGUE_PAGE_SIZE),
        },
        ACCEPT_XML,
      ),
  });
  return {
    lists: [
      list('advertisers', 'advertiser-lookup', { 'requestor-cid': account }),
      list('links', 'link-search', { 'website-id': website }),
    ],
  };
}
