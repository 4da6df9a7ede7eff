// In every round, kills everything as soon as an import has reported success: the server, another import that is still running,
// and the database server. Afterwards, the database must contain every acknowledged import completely, and the other import
// completely or not at all.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import { spawnOfferbook } from '../../support/command.ts';
import { transaction } from '../../support/fixtures.ts';
import { ndjson } from '../../support/test-node.ts';
import { type Machine, openMachine } from '../cluster/machine.ts';
import { Node } from '../cluster/node.ts';
import { createOrganisation, withStores } from '../cluster/seed.ts';
import { readAll } from '../model/comparison.ts';
import { getOrganisation, idsOf } from '../model/world.ts';
import type { Run } from '../report/run.ts';
import type { Scenario } from '../scenario.ts';

/** The organisations of the acknowledged and of the killed imports. */
const ACKNOWLEDGED = 'amber';
const KILLED = 'birch';

export const durability: Scenario = {
  name: 'durability',
  guarantee: 'an acknowledged import survives killing every process',
  minutes: 5,
  options: { rounds: { type: 'string', default: '20', help: 'number of kills' } },
  mustHappen: ['imports acknowledged', 'imports killed'],
  short: { minutes: 5, values: { rounds: '2' } },
  async run(run) {
    const machine = run.use(await openMachine(run.database.name));
    const random = run.random('durability');
    await withStores(machine.databaseUrl, async (stores) => {
      for (const name of [ACKNOWLEDGED, KILLED]) await createOrganisation(stores, name);
    });
    const node = run.use(await Node.start(machine.databaseUrl));
    const expected = new Map<Uuid, string>();
    for (let round = 1; round <= run.number('rounds') && !run.isOver; round++) {
      const mark = `round ${round}`;
      const ids = random.shuffled(idsOf(ACKNOWLEDGED)).slice(0, Math.round(random.logBetween(1, 800)));
      if (await importAndKill(machine, node, mark, ids, random.whole(-150, 50))) {
        run.count('imports acknowledged');
        run.count('rows acknowledged', ids.length);
        for (const id of ids) expected.set(id, mark);
      } else run.violation('REFUSED', `the import of ${mark} was not acknowledged`);
      await machine.start();
      await node.start();
      await checkRound(run, machine.databaseUrl, mark, expected);
    }
    for (const damage of await machine.damage()) run.violation('DAMAGE', damage);
  },
};

async function checkRound(
  run: Run,
  databaseUrl: string,
  mark: string,
  expected: ReadonlyMap<Uuid, string>,
): Promise<void> {
  await withStores(databaseUrl, async (stores) => {
    const marksOf = async (name: string) => readAll(stores, (await getOrganisation(stores, name)).id);
    const kept = await marksOf(ACKNOWLEDGED);
    const lost = [...expected].filter(([id, last]) => kept.get(id)?.passbackData !== last);
    if (lost.length > 0) run.violation('LOST', `${lost.length} acknowledged rows after ${mark}`);
    // Each killed import writes every row, so all rows must have the mark of the same import.
    const marks = new Set([...(await marksOf(KILLED)).values()].map((row) => row.passbackData));
    run.count('imports killed');
    if (marks.has(mark)) run.count('imports killed after their commit');
    if (marks.size > 1) run.violation('HALF', `the import killed in ${mark} was stored by half`);
  });
}

/**
 * Runs an import and kills everything when it ends; returns true if it reported success. The import to be killed starts
 * `delayMs` after the first one, or before it if `delayMs` is negative.
 */
async function importAndKill(
  machine: Machine,
  node: Node,
  mark: string,
  ids: readonly Uuid[],
  delayMs: number,
): Promise<boolean> {
  const env = { OFFERBOOK_DATABASE_URL: machine.databaseUrl };
  const start = (org: string, rowIds: readonly Uuid[]) =>
    spawnOfferbook(['import', 'transactions', '-', '--org', org, '--json'], {
      stdin: ndjson(rowIds.map((id) => transaction(0, { id, passbackData: mark }))),
      env,
    });
  const early = delayMs < 0 ? start(KILLED, idsOf(KILLED)) : undefined;
  await Bun.sleep(Math.max(0, -delayMs));
  const acknowledged = start(ACKNOWLEDGED, ids);
  await Bun.sleep(Math.max(0, delayMs));
  const killed = early ?? start(KILLED, idsOf(KILLED));
  const code = await acknowledged.exited;
  killed.kill('SIGKILL');
  await Promise.all([node.stop('SIGKILL'), machine.kill(), killed.exited]);
  return code === 0;
}
