// An import that a scenario orders, and its execution by the real importer, with a file that is generated while the import
// holds the change clock's lock. Runs in the importer processes.

import { Random } from '@offerbook/sandbox/random.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { STATUSES, type Status } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { ClickIds } from '../../../src/activation/click-id.ts';
import type { Organisation } from '../../../src/domain/organisation.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import type { TransactionStore, TransactionWriters } from '../../../src/domain/transaction.ts';
import { importTransactions } from '../../../src/importer/import-transactions.ts';
import { transaction } from '../../support/fixtures.ts';
import { readAll } from '../model/comparison.ts';
import { getOrganisation, idsOf, ORGANISATIONS, type OrganisationName, USERS } from '../model/world.ts';

/** The part of an import that changes one organisation. */
export interface ImportPart {
  /** Written into every changed row, to identify the import that the row comes from. */
  readonly number: number;
  readonly organisation: OrganisationName;
}

export interface ImportOrder {
  /** Several parts form one file. Every row of such a file names its click. */
  readonly parts: readonly ImportPart[];
  /** Number of rows in each part. */
  readonly rows: number;
  /** The end of the file: valid, or with a row that makes the whole import fail. */
  readonly ending: 'good' | 'bad row' | 'foreign id';
  /** Error of the importing process's clock. */
  readonly clockOffsetMs: number;
  /** How long the file delays the import between its stamp and its commit. */
  readonly pauseMs: number;
  readonly seed: number;
  /** If set, changes only this row, provided that it exists. */
  readonly only?: Uuid | undefined;
}

export interface ImportResult {
  /** Number of the part. */
  readonly number: number;
  readonly stampMs: number;
  readonly changes: number;
}

interface Observer {
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
  const transactions = observed(stores.transactions, results, observer);
  const clock = () => Date.now() + order.clockOffsetMs;
  const ids = new ClickIds(await stores.clickKey());
  const makeClick = others.length === 0 ? undefined : (org: Organisation) => ids.make(org.id, clock());
  await importTransactions(
    { ...stores, transactions },
    makeClick === undefined ? first?.org : undefined,
    sourceFrom(fileOf(stores, order, parts, makeClick)),
    clock,
    // The file has no rows if the only row to change does not exist.
    { allowEmpty: true },
  );
  const numbers = order.parts.map(({ number }) => number);
  if (order.ending !== 'good') observer.violation(`import ${numbers} should have been rejected`);
  return [...results.values()];
}

/**
 * Generates the file while the import reads it. By then, the import holds the clock's lock, so the stored rows cannot change
 * before the commit, and rows that should be unchanged really are.
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

/**
 * Returns rows to import. Some of them equal the stored rows, but never rows with a click, because the click determines their
 * activation time.
 */
async function chooseRows(
  stores: Stores,
  order: ImportOrder,
  { number, organisation }: ImportPart,
  random: Random,
  unchangedShare: number,
): Promise<object[]> {
  const { id: orgId } = await getOrganisation(stores, organisation);
  const stored = await readAll(stores, orgId);
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

/** An id of another organisation's transaction. If there is none yet, returns an invalid id, which is also rejected. */
async function foreignId(stores: Stores, organisation: OrganisationName, random: Random): Promise<Uuid> {
  const other = random.pick(ORGANISATIONS.filter((name) => name !== organisation));
  const { id: orgId } = await getOrganisation(stores, other);
  // Do not read a page: a scenario ends connections that read pages, and the import needs this one.
  const [id] = (await readAll(stores, orgId)).keys();
  return id ?? ('nobody' as Uuid);
}

function line(row: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(row)}\n`);
}

/** Wraps the store to report the stamps, and to count the changes of each organisation. */
function observed(
  store: TransactionStore,
  results: ReadonlyMap<number, { number: number; stampMs: number; changes: number }>,
  observer: Observer,
): TransactionStore {
  const observe = (writers: TransactionWriters): TransactionWriters => {
    for (const [orgId, result] of results) {
      result.stampMs = writers.of(orgId)?.stampMs ?? 0;
      observer.stamped(result.number, result.stampMs);
    }
    return {
      ...writers,
      of(orgId) {
        const writer = writers.of(orgId);
        return (
          writer && {
            ...writer,
            async put(rows) {
              const result = results.get(orgId);
              if (result === undefined)
                observer.violation(`the import wrote to organisation ${orgId}, which is not part of it`);
              else result.changes += rows.length;
              await writer.put(rows);
            },
          }
        );
      },
    };
  };
  return {
    ...store,
    write: (orgId, work) => store.write(orgId, (writer) => work({ ...writer, ...observe(writer) })),
    writeAll: (work) => store.writeAll((writers) => work(observe(writers))),
  };
}
