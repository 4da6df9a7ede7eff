// Pulls from a fake network of the sandbox: the source, the pull of one pass, and the comparison of the database with the
// network's truth.

import type { NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import type { TrueSale } from '@offerbook/sandbox/networks/true-sales.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Row } from '../../../feeds/test/fixture.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { PullableSource } from '../../src/pull/network-client.ts';
import { pullSource } from '../../src/pull/pull-source.ts';
import type { StreamReport } from '../../src/pull/source-run.ts';
import { comparable, expectedRows, wholeShareSource } from '../sandbox/network-truth.ts';
import { readAllTransactions } from '../storage/open-test-stores.ts';
import { pullableOf } from './pull-rig.ts';

export interface PassOptions {
  readonly network: NetworkName;
  readonly baseUrl: string;
  readonly stores: Stores;
  readonly org: Organisation;
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  /** Where the first pass starts. */
  readonly startMs: number;
  /** Default: only sales. */
  readonly hasCatalogue?: boolean;
  readonly onNote?: (note: string) => void;
}

/** Rakuten never confirms a sale. Without a rule, a declined sale that counts again could not leave its status. */
const CONFIRM_AFTER = { confirmAfterDays: 1 };
/** Short, because pulls that are frozen or killed follow each other quickly. */
const LEASE_TIMINGS = { leaseMs: 1_000, renewEveryMs: 100, checkEveryMs: 20 };
/** After this time, the age of every sale has decided its status. */
export const DECIDED_MS = 3 * DAY_MS;

export function pullable(network: NetworkName, baseUrl: string): PullableSource {
  const source = wholeShareSource(network, {
    // Not every network lists logos.
    ...{ baseUrl, logo: 'https://logos.example/{advertiser}.png' },
    ...(network === 'rakuten' && CONFIRM_AFTER),
  });
  return pullableOf(source, network);
}

/** One pass over all streams, as `offerbook pull` makes it. */
export function pullPass(options: PassOptions): Promise<StreamReport[]> {
  const { network, baseUrl, stores, org, clock, sleep, random, startMs, onNote, hasCatalogue } = options;
  const how = {
    only: hasCatalogue === true ? undefined : ('transactions' as const),
    org,
    startMs,
    by: `test@${process.pid}`,
    version: '0',
    onNote,
  };
  const context = { stores, clock, sleep, random, leaseTimings: LEASE_TIMINGS };
  return pullSource(pullable(network, baseUrl), how, context);
}

export interface Comparison {
  /** Sales that the network has and the database has not. */
  readonly lost: number;
  /** Sales that the database has and the network has not. */
  readonly extra: number;
  /** Sales that differ. */
  readonly wrong: number;
  /** Versions that do not differ from the one before: clients were notified for nothing. */
  readonly needless: number;
  readonly sales: number;
  readonly versions: number;
  /** A few differences. */
  readonly examples: readonly string[];
}

/** Call this when all sales are older than DECIDED_MS. */
export async function compareWithTruth(
  stores: Stores,
  org: Organisation,
  network: NetworkName,
  truth: readonly TrueSale[],
): Promise<Comparison> {
  const documents = await readAllTransactions(stores, org.id);
  const stored = documents.map(({ document }) => JSON.parse(document) as Row);
  const counts = { needless: 0, versions: 0 };
  const examples: string[] = [];
  for (const { id } of stored) {
    const versions = (await stores.history.versions(id as Uuid)).map(({ document }) => contents(document));
    counts.versions += versions.length;
    const needless = versions.filter((version, index) => version === versions[index + 1]).length;
    if (needless > 0) examples.push(`${id} has equal versions: ${versions[0]}`);
    counts.needless += needless;
  }
  const decided = truth.map((sale) =>
    network === 'rakuten' && sale.status === 'PENDING' ? { ...sale, status: 'CONFIRMED' as const } : sale,
  );
  const source = wholeShareSource(network);
  const expected = new Map(expectedRows(source, decided).map((row) => [row.id, row]));
  const found = new Map(comparable(stored).map((row) => [String(row.id), row]));
  const hidden = new Set(
    expectedRows(
      source,
      truth.filter((sale) => isHidden(network, sale)),
    ).map(({ id }) => id),
  );
  const lost = [...expected.values()].filter(({ id }) => !found.has(id) && !hidden.has(id));
  const extra = [...found].filter(([id]) => !expected.has(id));
  const wrong = [...expected.values()].filter(({ id }) => {
    const row = found.get(id);
    return row !== undefined && !Bun.deepEquals(row, expected.get(id));
  });
  examples.push(...lost.map((row) => `lost ${JSON.stringify(row)}`));
  examples.push(...extra.map(([, row]) => `extra ${JSON.stringify(row)}`));
  examples.push(
    ...wrong.map((row) => `expected ${JSON.stringify(row)}, found ${JSON.stringify(found.get(row.id))}`),
  );
  return {
    ...{ lost: lost.length, extra: extra.length, wrong: wrong.length, sales: found.size, ...counts },
    examples: examples.slice(0, 5),
  };
}

/**
 * Awin finds pending sales only by the date of the sale. If a sale is listed long after it was made, pulls find it when it is
 * decided.
 */
function isHidden(network: NetworkName, { status, soldMs, reportedMs }: TrueSale): boolean {
  return network === 'awin' && status === 'PENDING' && reportedMs - soldMs > DAY_MS;
}

/** A document without its stamp. */
function contents(document: string): string {
  const { updatedAt: _, ...rest } = JSON.parse(document) as Transaction;
  return JSON.stringify(rest);
}
