// Pulls from fake networks that misbehave, interrupted again and again, over a year of virtual time. In the end, the database
// equals what the network says. `npm run test:pull` does the same with processes that are killed.

import { describe, expect, test } from 'bun:test';
import { ACCOUNTS, NETWORKS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import { type AnsweredRequest, FakeNetworks } from '@offerbook/sandbox/networks/fake-networks.ts';
import { randomFaults } from '@offerbook/sandbox/networks/faults.ts';
import { trueSales } from '@offerbook/sandbox/networks/true-sales.ts';
import { Random } from '@offerbook/sandbox/random.ts';
import { StorageError } from '../../src/domain/storage-error.ts';
import { closing } from '../../src/storage/open-once.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { DATABASES, type TestDatabase } from '../support/databases.ts';
import { compareWithTruth, DECIDED_MS, pullPass } from './network-pull.ts';

const SEED = Number(process.env.TEST_SEED ?? 20_261_118);
const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const START_MS = Date.UTC(2026, 0, 10, 12);
const RUN_DAYS = 250;
/** The first pull finds sales of the months before it. Rakuten has only those of the last two weeks. */
const HISTORY_DAYS = { awin: 100, impact: 100, partnerize: 100, cj: 100, rakuten: 10 };

class Interrupted extends StorageError {
  constructor() {
    super('unavailable', 'interrupted');
  }
}

interface Chaos {
  /** Fraction of requests with a fault. */
  readonly faults: number;
  /** Fraction of passes that are interrupted. */
  readonly interruptions: number;
  readonly leakShare?: number;
}

async function run(network: NetworkName, database: TestDatabase, chaos: Chaos) {
  const random = new Random(SEED, 'chaos', network);
  let nowMs = START_MS;
  let stepsLeft = Number.POSITIVE_INFINITY;
  let interrupted = 0;
  let frozenMs = Number.POSITIVE_INFINITY;
  let isHonest = false;
  const plan = randomFaults(SEED, chaos.faults);
  const answered: AnsweredRequest[] = [];
  const sinceMs = START_MS - HISTORY_DAYS[network] * DAY_MS;
  const fakes = new FakeNetworks({
    ...{ seed: SEED, sinceMs, clock: () => Math.min(nowMs, frozenMs), leakShare: chaos.leakShare ?? 0 },
    density: { salesPerDay: 3, cellMs: 360 * MINUTE_MS },
    pageSizeMax: 5,
    logoUrl: () => 'https://logos.example/',
    faults: { draw: (name, number) => (isHonest ? undefined : plan.draw(name, number)) },
    onAnswer: (entry) => answered.push(entry),
  });
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    fetch: (r) => fakes.answer(r),
  });
  // A pull asks for the time at every step, in the transaction of the import too.
  const clock = () => {
    if (--stepsLeft > 0) return nowMs;
    stepsLeft = Number.POSITIVE_INFINITY;
    interrupted++;
    throw new Interrupted();
  };
  const url = await database.create();
  await using stores = closing(await openStores(url, CREATE_OPTIONS, clock));
  const org = await stores.organisations.create('acme');
  if (org === undefined) throw new Error('the organisation exists');
  const pass = async () => {
    try {
      const reports = await pullPass({
        ...{
          network,
          stores,
          org,
          clock,
          baseUrl: `http://127.0.0.1:${server.port}`,
          startMs: sinceMs - 310 * DAY_MS,
        },
        sleep: async (ms) => {
          nowMs += Math.ceil(ms);
        },
        random: () => random.unit(),
      });
      return reports.flatMap(({ error }) => error ?? []);
    } catch (error) {
      if (error instanceof Interrupted) return ['interrupted'];
      throw error;
    } finally {
      stepsLeft = Number.POSITIVE_INFINITY;
    }
  };
  const endMs = START_MS + RUN_DAYS * DAY_MS;
  while (nowMs < endMs) {
    if (random.chance(chaos.interruptions)) stepsLeft = Math.ceil(random.logBetween(1, 60));
    await pass();
    // Rakuten's rows must be read within two weeks.
    nowMs += Math.round(random.between(1, network === 'rakuten' ? 2 : 20) * DAY_MS);
  }
  isHonest = true;
  frozenMs = nowMs;
  nowMs += DECIDED_MS;
  const errors = await pass();
  const truth = trueSales(fakes.ledger, network, frozenMs);
  const comparison = await compareWithTruth(stores, org, network, truth);
  return { errors, comparison, interrupted, answered };
}

for (const database of DATABASES) {
  describe(`pulls on ${database.name}`, () => {
    // `npm run test:pull` runs all networks on both databases.
    const networks = NETWORKS.filter((name) => database.name === 'SQLite' || name === 'cj');

    test.each(networks)(
      '%s: no sale is lost, duplicated or stamped without a change, whatever fails',
      async (network) => {
        const { errors, comparison, interrupted, answered } = await run(network, database, {
          faults: 0.1,
          interruptions: 0.5,
        });
        const { sales, versions, ...differences } = comparison;
        expect({ errors, ...differences }).toEqual({
          ...{ errors: [], lost: 0, extra: 0, wrong: 0, needless: 0, examples: [] },
        });
        expect(Math.min(sales, versions - sales, interrupted)).toBeGreaterThan(1);
        // Pulls stay within the windows and the rate of the network, and never send secrets in addresses.
        expect(answered.filter(({ status, fault }) => status !== 200 && fault === undefined)).toEqual([]);
        const secrets = Object.values<string>(ACCOUNTS[network].credentials);
        expect(answered.filter(({ target }) => secrets.some((secret) => target.includes(secret)))).toEqual(
          [],
        );
      },
    );
  });
}
