// Importers, pollers, restarts and sabotage on one database for a while. Then every poller finishes undisturbed, and its copy is
// compared with the database, row by row.

import { openDatabase } from '../../../src/storage/open-database.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS, openStores } from '../../../src/storage/open-stores.ts';
import { Node } from '../cluster/node.ts';
import { compare, readAll, readStateAt } from '../model/comparison.ts';
import { Ledger } from '../model/ledger.ts';
import { getOrganisation, ORGANISATIONS } from '../model/world.ts';
import { Actors } from '../report/actors.ts';
import type { Scenario } from '../scenario.ts';
import { buildFleet, catchUp, findDifferences, type Surroundings } from '../traffic/fleet.ts';
import { openImporter } from '../traffic/importer.ts';
import { pageReader } from '../traffic/page-reader.ts';
import { saboteur } from '../traffic/saboteur.ts';

const IMPORTERS = 3;
/** Fewer imports would hardly change rows during walks. */
const IMPORTS_MIN = 40;
/** Short, because a poller waits during the sabotage. */
const SABOTAGE_OPTIONS = { ...COMMAND_OPTIONS, lockTimeoutMs: 100 };

/** Ends the connections on which servers read pages: only these statements contain $1. */
const END_CONNECTIONS_SQL = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
   WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE $1`;

/** Thrown into a poller to restart it in the middle of a walk. */
class PollerRestart extends Error {}

export const polling: Scenario = {
  name: 'polling',
  guarantee: 'no poller misses a change while servers and importers are killed and rows change between pages',
  minutes: 1,
  mustHappen: ['imports', 'walks', 'pages', 'servers restarted'],
  short: { minutes: 4 / 60 },
  async run(run) {
    const databaseUrl = await run.database.create();
    const open = async (options: typeof CREATE_OPTIONS) => {
      const stores = await openStores(databaseUrl, options);
      run.defer(() => stores.close());
      return stores;
    };
    const stores = await open(CREATE_OPTIONS);
    for (const name of ORGANISATIONS) await stores.organisations.create(name);
    const database = openDatabase(databaseUrl, SABOTAGE_OPTIONS);
    run.defer(() => database.close());
    const nodes = [run.use(await Node.start(databaseUrl)), run.use(await Node.start(databaseUrl))];
    const ledger = new Ledger((what) => run.violation('STAMP', what));
    const sabotage = saboteur(await open(SABOTAGE_OPTIONS), ledger, run.random('saboteur'));
    let isQuiet = false;

    /** Fetches pages. After some of them, restarts the poller, or changes the cursor's row. */
    const reader: Surroundings['reader'] = (organisation, random, send) => {
      const witness = ledger.witness(organisation);
      const fetchPage = pageReader(send, witness, (what) => run.violation('PAGE', what));
      return async (query) => {
        const page = await fetchPage(query);
        run.count('pages');
        if (isQuiet || page.cursor === undefined) return page;
        if (random.chance(0.08)) throw new PollerRestart();
        if (random.chance(0.3) && (await sabotage(organisation, page.cursor)))
          run.count('cursor rows changed');
        return page;
      };
    };

    /** Every row of the state must be in the walk once, in the version of that time, and no other row. */
    const checkSnapshot: Surroundings['checkSnapshot'] = async (organisation, rows, at, passbackUid) => {
      const state = await readStateAt(database, (await getOrganisation(stores, organisation)).id, at);
      for (const [id, row] of state)
        if (passbackUid !== undefined && row.passbackUid !== passbackUid) state.delete(id);
      const seen = new Map(rows.map((row) => [row.id, row]));
      if (seen.size < rows.length) run.violation('TWICE', `a full copy of ${organisation} as of ${at}`);
      const { lost, extra } = compare(state, seen);
      for (const id of [...lost, ...extra])
        run.violation('HOLE', `a full copy of ${organisation} as of ${at} differs in ${id}`);
    };

    const random = (...parts: string[]) => run.random(...parts);
    const fleet = await buildFleet(ORGANISATIONS, { stores, nodes, random, reader, checkSnapshot });
    const actors = new Actors(run.endMs, () => ledger.acknowledged.length >= IMPORTS_MIN);
    for (let i = 0; i < IMPORTERS; i++) {
      const options = { databaseUrl, ledger, random: run.random('importer', i), killShare: 0.1 };
      const importer = openImporter(options);
      run.defer(() => importer.kill());
      actors.start(async () => run.count(`imports ${await importer.step()}`));
    }
    for (const { organisation, poller } of fleet) {
      const own = run.random('poller', organisation, poller.kind);
      let limit = 100;
      const walk = async () => {
        // Usually unchanged, as in real clients, so that a restarted walk requests the same cursors as its first attempt.
        if (own.chance(0.2)) limit = Math.round(own.logBetween(2, 200));
        try {
          await poller.walk(limit);
          run.count('walks');
        } catch (error) {
          if (!(error instanceof PollerRestart)) throw error;
          run.count('pollers restarted');
        }
      };
      actors.start(walk, () => own.logBetween(1, 200));
    }
    const restarts = run.random('restarts');
    actors.start(async () => {
      await Bun.sleep(restarts.between(200, 1_500));
      await restarts.pick(nodes).restart(restarts.pick(['SIGTERM', 'SIGKILL'] as const));
      run.count('servers restarted');
    });
    if (run.database.name === 'PostgreSQL') {
      const ends = run.random('ends');
      // Often in the middle of a response.
      const end = async () => {
        const ended = await database.all(END_CONNECTIONS_SQL, '%string_agg(document%');
        run.count('connections ended', ended.length);
      };
      actors.start(end, () => ends.logBetween(20, 1_000));
    }
    await actors.untilOver();

    isQuiet = true;
    const settling = run.random('settling');
    await catchUp(fleet, ({ poller }) => poller.walk(settling.whole(1, 200)));
    run.count('imports', ledger.acknowledged.length);
    for (const name of ORGANISATIONS) {
      const rows = await readAll(stores, (await getOrganisation(stores, name)).id);
      run.count('rows', rows.size);
      ledger.check(rows.values());
    }
    for (const { what, id, poller } of await findDifferences(fleet, stores)) {
      if (what === 'lost') run.violation('LOST', `${poller} does not have the latest version of ${id}`);
      else run.violation('EXTRA', `${poller} has ${id}, which is not in the database`);
    }
    for (const difference of await stores.totals.verify())
      run.violation('TOTALS', `stored and counted totals differ: ${JSON.stringify(difference)}`);
  },
};
