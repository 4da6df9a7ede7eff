// One import as the nemesis orders it, and how it is carried out: through the product's own importer, with a
// file that is made up while the change clock's lock is held. Runs in the importers' processes.

import { Random } from '@offerbook/sandbox/random.ts';
import type { Organisation, Stores, TransactionStore } from '../../src/domain/stores.ts';
import { STATUSES, type Status, type Transaction } from '../../src/domain/transaction.ts';
import type { Uuid } from '../../src/domain/uuid.ts';
import { sourceFrom } from '../../src/importer/formats/import-source.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { transaction } from '../support/fixtures.ts';
import { idsOf, keptIdsOf, ORGANISATIONS, type OrganisationName } from './world.ts';

export interface ImportOrder {
  /** Written into every row that the import changes, so that a row tells which import it comes from. */
  readonly number: number;
  readonly organisation: OrganisationName;
  readonly rows: number;
  /** How the file ends: well, or with a row for which the whole import must be refused. */
  readonly ending: 'good' | 'bad row' | 'foreign id';
  /** How far the importing process's clock is off. */
  readonly clockOffsetMs: number;
  /** How long the file keeps the import waiting between its stamp and its commit. */
  readonly pauseMs: number;
  readonly seed: number;
  /** Changes just this row, if it is there. */
  readonly only?: Uuid | undefined;
}

export interface ImportResult {
  readonly stampMs: number;
  readonly changes: number;
}

export interface Observer {
  stamped(stampMs: number): void;
  violation(what: string): void;
}

export async function carryOut(
  stores: Stores,
  order: ImportOrder,
  observer: Observer,
): Promise<ImportResult> {
  const organisation = await getOrganisation(stores, order.organisation);
  let stampMs = 0;
  const store = observed(stores.transactions, {
    ...observer,
    stamped(ms) {
      stampMs = ms;
      observer.stamped(ms);
    },
  });
  const clock = () => Date.now() + order.clockOffsetMs;
  const report = await importTransactions(store, organisation, sourceFrom(fileOf(stores, order)), clock, {});
  if (order.ending !== 'good') observer.violation(`import ${order.number} should have been refused`);
  return { stampMs, changes: report.added + report.changed };
}

export async function getOrganisation(stores: Stores, name: string): Promise<Organisation> {
  const organisation = await stores.organisations.find(name);
  if (organisation === undefined) throw new Error(`there is no organisation ${name}`);
  return organisation;
}

/**
 * The file, made when it is read. By then the import holds the clock's lock, so that what is read here cannot
 * change before the commit: rows that are meant to be unchanged are.
 */
async function* fileOf(stores: Stores, order: ImportOrder): AsyncGenerator<Uint8Array> {
  const random = new Random(order.seed);
  const rows = await chooseRows(stores, order, random);
  const pauseAt = random.whole(0, rows.length);
  for (const [i, row] of rows.entries()) {
    if (i === pauseAt) await Bun.sleep(order.pauseMs);
    yield line(row);
  }
  if (pauseAt === rows.length) await Bun.sleep(order.pauseMs);
  if (order.ending === 'bad row') yield line({ id: 'not an id' });
  if (order.ending === 'foreign id')
    yield line(transaction(0, { id: await foreignId(stores, order, random) }));
}

async function chooseRows(stores: Stores, order: ImportOrder, random: Random): Promise<object[]> {
  const { id: orgId } = await getOrganisation(stores, order.organisation);
  const stored = new Map<Uuid, Transaction>();
  await stores.transactions.read(orgId, async (batch) => {
    for (const { id, document } of batch) stored.set(id, JSON.parse(document) as Transaction);
  });
  const ids =
    order.only === undefined
      ? random.shuffled(idsOf(order.organisation)).slice(0, order.rows)
      : [order.only].filter((id) => stored.has(id));
  return ids.map((id) => {
    const existing = stored.get(id);
    const mark = `import ${order.number}`;
    if (existing === undefined) return transaction(0, { id, passbackData: mark, passbackUid: null });
    if (order.only === undefined && random.chance(0.3)) return existing;
    const orderValue = random.whole(0, 100_000) / 100;
    return { ...existing, passbackData: mark, orderValue, status: nextStatus(existing.status, random) };
  });
}

function nextStatus(status: Status, random: Random): Status {
  return random.pick(status === 'PENDING' ? STATUSES : (['CONFIRMED', 'DECLINED'] as const));
}

/** An id that another organisation holds. Without one there is nothing to be refused for, so any bad id will do. */
async function foreignId(stores: Stores, order: ImportOrder, random: Random): Promise<Uuid> {
  const other = random.pick(ORGANISATIONS.filter((name) => name !== order.organisation));
  const { id: orgId } = await getOrganisation(stores, other);
  const ids: Uuid[] = [];
  // Not a page: the nemesis ends the connections on which pages are read, and this one is to write.
  await stores.transactions.read(orgId, async (batch) => {
    ids.push(...batch.map(({ id }) => id));
  });
  return ids.find((id) => keptIdsOf(other).includes(id)) ?? ('nobody' as Uuid);
}

function line(row: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(row)}\n`);
}

/** The store itself, looked at while it works: what an import writes must have changed, and carry the import's stamp. */
function observed(store: TransactionStore, observer: Observer): TransactionStore {
  return {
    ...store,
    write: (orgId, work) =>
      store.write(orgId, (writer) => {
        observer.stamped(writer.stampMs);
        const found = new Map<Uuid, string>();
        return work({
          ...writer,
          async find(ids) {
            const rows = await writer.find(ids);
            for (const { id, document } of rows.values()) found.set(id, document);
            return rows;
          },
          async put(rows) {
            for (const row of rows) {
              if (row.updatedAtMs !== writer.stampMs) observer.violation(`${row.id} was not given the stamp`);
              if (content(row.document) === content(found.get(row.id))) {
                observer.violation(`${row.id} has not changed and was stamped anew`);
              }
            }
            await writer.put(rows);
          },
        });
      }),
  };
}

/** A document without its stamp. */
function content(document: string | undefined): string | undefined {
  return document?.replace(/"updatedAt":"[^"]*",/, '');
}
