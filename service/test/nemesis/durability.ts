// In every round, kills everything as soon as an import has reported success: the server, another import that is still running,
// and the database server. Afterwards, the database must contain every acknowledged import completely, and the other import
// completely or not at all.

import { Random } from '@offerbook/sandbox/random.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { ServerProcess, spawnOfferbook } from '../support/command.ts';
import { transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';
import { readAll } from './comparison.ts';
import { getOrganisation } from './import-order.ts';
import type { Machine } from './machine.ts';
import { idsOf } from './world.ts';

export interface DurabilityReport {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly rowsAcknowledged: number;
  /** Imports that were killed before they reported success; killedButDone of them had been committed. */
  readonly killed: number;
  readonly killedButDone: number;
  readonly lost: number;
  readonly half: number;
  /** Problems found by the database's own integrity check. */
  readonly damage: readonly string[];
}

/** The organisations of the acknowledged and of the killed imports. */
const ACKNOWLEDGED = 'amber';
const KILLED = 'birch';

export async function runDurability(
  machine: Machine,
  rounds: number,
  seed: number,
): Promise<DurabilityReport> {
  const random = new Random(seed, 'durability');
  const report = {
    rounds,
    acknowledged: 0,
    rowsAcknowledged: 0,
    killed: 0,
    killedButDone: 0,
    lost: 0,
    half: 0,
  };
  await withStores(machine, async (stores) => {
    for (const name of [ACKNOWLEDGED, KILLED]) await stores.organisations.create(name);
  });
  const expected = new Map<Uuid, string>();
  for (let round = 1; round <= rounds; round++) {
    const mark = `round ${round}`;
    const ids = random.shuffled(idsOf(ACKNOWLEDGED)).slice(0, Math.round(random.logBetween(1, 800)));
    if (await importAndKill(machine, mark, ids, random.whole(-150, 50))) {
      report.acknowledged += 1;
      report.rowsAcknowledged += ids.length;
      for (const id of ids) expected.set(id, mark);
    }
    await machine.start();
    await withStores(machine, async (stores) => {
      const kept = await marksOf(stores, ACKNOWLEDGED);
      report.lost += [...expected].filter(([id, last]) => kept.get(id) !== last).length;
      // Each killed import writes every row, so all rows must have the mark of the same import.
      const marks = new Set((await marksOf(stores, KILLED)).values());
      report.killed += 1;
      if (marks.has(mark)) report.killedButDone += 1;
      if (marks.size > 1) report.half += 1;
    });
  }
  return { ...report, damage: await machine.damage() };
}

/**
 * Runs an import and kills everything when it ends; returns true if it reported success. The import to be killed starts
 * `delayMs` after the first one, or before it if `delayMs` is negative.
 */
async function importAndKill(
  machine: Machine,
  mark: string,
  ids: readonly Uuid[],
  delayMs: number,
): Promise<boolean> {
  await using server = await ServerProcess.start([], {
    env: { OFFERBOOK_DATABASE_URL: machine.databaseUrl },
  });
  const startAcknowledged = () => startImport(machine, ACKNOWLEDGED, mark, ids);
  const startKilled = () => startImport(machine, KILLED, mark, idsOf(KILLED));
  const early = delayMs < 0 ? startKilled() : undefined;
  if (early !== undefined) await Bun.sleep(-delayMs);
  const acknowledged = startAcknowledged();
  if (early === undefined) await Bun.sleep(delayMs);
  const killed = early ?? startKilled();
  const code = await acknowledged.exited;
  process.kill(server.pid, 'SIGKILL');
  killed.kill('SIGKILL');
  await machine.kill();
  await killed.exited;
  return code === 0;
}

function startImport(machine: Machine, org: string, mark: string, ids: readonly Uuid[]) {
  const rows = ids.map((id) => transaction(0, { id, passbackData: mark }));
  return spawnOfferbook(['import', 'transactions', '-', '--org', org, '--json'], {
    stdin: ndjson(rows),
    env: { OFFERBOOK_DATABASE_URL: machine.databaseUrl },
  });
}

async function marksOf(stores: Stores, org: string): Promise<Map<Uuid, string | null>> {
  const rows = await readAll(stores, (await getOrganisation(stores, org)).id);
  return new Map([...rows].map(([id, row]: [Uuid, Transaction]) => [id, row.passbackData]));
}

async function withStores(machine: Machine, work: (stores: Stores) => Promise<void>): Promise<void> {
  const stores = await openStores(machine.databaseUrl, CREATE_OPTIONS);
  try {
    await work(stores);
  } finally {
    await stores.close();
  }
}
