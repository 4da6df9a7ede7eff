// One import as the nemesis orders it, and how it is carried out: through the product's own importer, with a
// file that is made up while the change clock's lock is held. Runs in the importers' processes.

import { Random } from '@offerbook/sandbox/random.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { STATUSES, type Status, type Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { ClickIds } from '../../src/activation/click-id.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { TransactionStore, TransactionWriter } from '../../src/domain/transaction.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { transaction } from '../support/fixtures.ts';
import { idsOf, keptIdsOf, ORGANISATIONS, type OrganisationName, USERS } from './world.ts';

/** What an import does to one organisation. */
export interface ImportPart {
  /** Written into every row that the import changes, so that a row tells which import it comes from. */
  readonly number: number;
  readonly organisation: OrganisationName;
}

export interface ImportOrder {
  /** Several are one file, of which every row names its click. */
  readonly parts: readonly ImportPart[];
  /** For each part. */
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
  /** Of the part. */
  readonly number: number;
  readonly stampMs: number;
  readonly changes: number;
}

export interface Observer {
  stamped(number: number, stampMs: number): void;
  violation(what: string): void;
}

export async function carryOut(
  stores: Stores,
  order: ImportOrder,
  observer: Observer,
): Promise<ImportResult[]> {
  const parts = await Promise.all(
    order.parts.map(async (part) => ({ ...part, org: await getOrganisation(stores, part.organisation) })),
  );
  const [first, ...others] = parts;
  const results = new Map(parts.map(({ org, number }) => [org.id, { number, stampMs: 0, changes: 0 }]));
  const store = observed(stores.transactions, results, observer);
  const clock = () => Date.now() + order.clockOffsetMs;
  const ids = new ClickIds(await stores.clickKey());
  const makeClick = others.length === 0 ? undefined : (org: Organisation) => ids.make(org.id, clock());
  await importTransactions(
    store,
    makeClick === undefined ? first?.org : undefined,
    sourceFrom(fileOf(stores, order, parts, makeClick)),
    clock,
    // An order that changes nothing of an empty organisation has no rows.
    { allowEmpty: true, ...(makeClick !== undefined && { attributor: { ids, clicks: stores.clicks } }) },
  );
  const numbers = order.parts.map(({ number }) => number);
  if (order.ending !== 'good') observer.violation(`import ${numbers} should have been refused`);
  return [...results.values()];
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
async function* fileOf(
  stores: Stores,
  order: ImportOrder,
  parts: readonly (ImportPart & { readonly org: Organisation })[],
  makeClick: ((org: Organisation) => string) | undefined,
): AsyncGenerator<Uint8Array> {
  const random = new Random(order.seed);
  const chosen: object[] = [];
  for (const part of parts) {
    const rows = await chooseRows(stores, order, part, random, makeClick === undefined ? 0.3 : 0);
    chosen.push(...rows.map((row) => (makeClick ? { ...row, clickId: makeClick(part.org) } : row)));
  }
  const rows = random.shuffled(chosen);
  const pauseAt = random.whole(0, rows.length);
  for (const [i, row] of rows.entries()) {
    if (i === pauseAt) await Bun.sleep(order.pauseMs);
    yield line(row);
  }
  if (pauseAt === rows.length) await Bun.sleep(order.pauseMs);
  if (order.ending === 'bad row') yield line({ id: 'not an id' });
  const [first] = parts;
  if (order.ending === 'foreign id' && first !== undefined) {
    const foreign = transaction(0, { id: await foreignId(stores, first.organisation, random) });
    yield line(makeClick ? { ...foreign, clickId: makeClick(first.org) } : foreign);
  }
}

/** Some of the rows are given as they are stored. Not those with a click: it tells another time than they have. */
async function chooseRows(
  stores: Stores,
  order: ImportOrder,
  { number, organisation }: ImportPart,
  random: Random,
  unchangedShare: number,
): Promise<object[]> {
  const { id: orgId } = await getOrganisation(stores, organisation);
  const stored = new Map<Uuid, Transaction>();
  await stores.transactions.read(orgId, async (batch) => {
    for (const { id, document } of batch) stored.set(id, JSON.parse(document) as Transaction);
  });
  const ids =
    order.only === undefined
      ? random.shuffled(idsOf(organisation)).slice(0, order.rows)
      : [order.only].filter((id) => stored.has(id));
  return ids.map((id) => {
    const existing = stored.get(id);
    const mark = `import ${number}`;
    if (existing === undefined)
      return transaction(0, { id, passbackData: mark, passbackUid: random.pick([...USERS, null]) });
    if (order.only === undefined && random.chance(unchangedShare)) return existing;
    const orderValue = random.whole(0, 100_000) / 100;
    const passbackUid = random.chance(0.1) ? random.pick(USERS) : existing.passbackUid;
    const status = nextStatus(existing.status, random);
    return { ...existing, passbackData: mark, orderValue, passbackUid, status };
  });
}

function nextStatus(status: Status, random: Random): Status {
  return random.pick(status === 'PENDING' ? STATUSES : (['CONFIRMED', 'DECLINED'] as const));
}

/** An id that another organisation holds. Without one there is nothing to be refused for, so any bad id will do. */
async function foreignId(stores: Stores, organisation: OrganisationName, random: Random): Promise<Uuid> {
  const other = random.pick(ORGANISATIONS.filter((name) => name !== organisation));
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

/**
 * The store itself, looked at while it works: what an import writes must have changed, and carry the import's stamp.
 * Fills in the results, by organisation.
 */
function observed(
  store: TransactionStore,
  results: Map<number, { number: number; stampMs: number; changes: number }>,
  observer: Observer,
): TransactionStore {
  const found = new Map<Uuid, string>();
  const finder =
    (find: TransactionWriter['find']): TransactionWriter['find'] =>
    async (ids) => {
      const rows = await find(ids);
      for (const { id, document } of rows.values()) found.set(id, document);
      return rows;
    };
  const watch = <Writer extends Pick<TransactionWriter, 'stampMs' | 'find' | 'put'>>(
    orgId: number,
    writer: Writer,
  ): Writer => {
    const result = results.get(orgId);
    return {
      ...writer,
      find: finder(writer.find),
      async put(rows) {
        if (result === undefined) observer.violation(`organisation ${orgId} was not meant`);
        else result.changes += rows.length;
        for (const row of rows) {
          if (row.updatedAtMs !== writer.stampMs) observer.violation(`${row.id} was not given the stamp`);
          if (content(row.document) === content(found.get(row.id))) {
            observer.violation(`${row.id} has not changed and was stamped anew`);
          }
        }
        await writer.put(rows);
      },
    };
  };
  const stamped = (orgId: number, stampMs: number) => {
    const result = results.get(orgId);
    if (result === undefined) return;
    result.stampMs = stampMs;
    observer.stamped(result.number, stampMs);
  };
  return {
    ...store,
    write: (orgId, work) =>
      store.write(orgId, (writer) => {
        stamped(orgId, writer.stampMs);
        return work(watch(orgId, writer));
      }),
    writeAll: (work) =>
      store.writeAll((writers) => {
        for (const orgId of results.keys()) stamped(orgId, writers.of(orgId)?.stampMs ?? 0);
        return work({
          ...writers,
          find: finder(writers.find),
          of(orgId) {
            const writer = writers.of(orgId);
            return writer && watch(orgId, writer);
          },
        });
      }),
  };
}

/** A document without its stamp. */
function content(document: string | undefined): string | undefined {
  return document?.replace(/"updatedAt":"[^"]*",/, '');
}
