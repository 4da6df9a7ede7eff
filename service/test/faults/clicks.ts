// Clicks while everything breaks: servers are killed in the middle of them, and the database goes away and comes back.
// In the end every redirect that was answered with a click has its record, and none has two.

import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { ClickId } from '../../src/domain/click.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { coupon, id, retailer } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

/** How many users click at a time. */
const USERS_AT_ONCE = 8;
const NETWORK = 'https://network.example/';

export interface ClickOutcome {
  /** Redirects that were answered with a click. */
  readonly answered: number;
  /** Those of them that are not in the database. */
  readonly lost: number;
  /** Clicks that were answered to more than one user. */
  readonly twice: number;
}

export interface ClickRounds {
  readonly databaseUrl: string;
  /** How often the server is killed. */
  readonly kills: number;
  /** How many clicks are answered between two kills. */
  readonly clicksEach: number;
  /** Takes the database away; what it returns brings it back. Between the first two kills. */
  readonly takeAway?: () => Promise<() => Promise<void>>;
}

export async function clickUnderFaults(rounds: ClickRounds): Promise<ClickOutcome> {
  const { databaseUrl, kills, clicksEach, takeAway } = rounds;
  const orgId = await prepare(databaseUrl);
  const env = {
    OFFERBOOK_DATABASE_URL: databaseUrl,
    OFFERBOOK_SPOOL: temporaryFolder(),
    // Thousands of users come from one address, and some disks are small.
    OFFERBOOK_RATE_LIMIT_ACTIVATION: '0',
    OFFERBOOK_RATE_LIMIT_ACTIVATION_ORG: '0',
    OFFERBOOK_DISK_RESERVE: '0',
  };
  const clickers = new Clickers(orgId);
  for (let kill = 0; kill < kills; kill++) {
    const server = await ServerProcess.start(['--log-level', 'info'], { env });
    const clicking = clickers.click(server.url);
    await clickers.untilAnswered(clicksEach);
    if (kill === 0 && takeAway !== undefined) {
      const bringBack = await takeAway();
      await clickers.untilAnswered(clicksEach);
      await bringBack();
    }
    await server.stop('SIGKILL');
    await clicking;
  }
  // The next server takes up what was left in the spool.
  const last = await ServerProcess.start([], { env });
  const recorded = await untilRecorded(databaseUrl, clickers.answered);
  await last.stop();
  return {
    answered: clickers.answered.length,
    lost: clickers.answered.filter((click) => !recorded.has(click)).length,
    twice: clickers.answered.length - new Set(clickers.answered).size,
  };
}

class Clickers {
  readonly answered: ClickId[] = [];
  readonly #orgId: string;
  #users = 0;

  constructor(orgId: string) {
    this.#orgId = orgId;
  }

  /** Every user clicks once; ends when the server is gone. */
  async click(url: string): Promise<void> {
    await Promise.all(Array.from({ length: USERS_AT_ONCE }, () => this.#clickOn(url)));
  }

  async untilAnswered(more: number): Promise<void> {
    const wanted = this.answered.length + more;
    while (this.answered.length < wanted) await Bun.sleep(5);
  }

  async #clickOn(url: string): Promise<void> {
    while (true) {
      const query = new URLSearchParams({ orgId: this.#orgId, passbackUid: `user ${this.#users++}` });
      try {
        const target = `${url}/v1/coupons/${id(21)}/activate/?${query}`;
        const location = (await fetch(target, { redirect: 'manual' })).headers.get('Location') ?? '';
        // The plain URL has no click in it: the user has arrived, and nothing is owed.
        if (location.startsWith(NETWORK)) this.answered.push(location.slice(NETWORK.length) as ClickId);
      } catch {
        return;
      }
    }
  }
}

async function prepare(databaseUrl: string): Promise<string> {
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  try {
    const org = await stores.organisations.create('acme');
    const rows = ndjson([retailer(1, { coupons: [coupon(21)] })]);
    await importCatalogue(stores.catalogue, sourceFrom(rows), {});
    await stores.links.write((writer) =>
      writer.put([{ id: id(1), kind: 'retailer', template: `${NETWORK}{click}` }]),
    );
    return org?.publicId ?? '';
  } finally {
    await stores.close();
  }
}

/** Waits for what is still in the spool, for as long as it gets less. */
async function untilRecorded(databaseUrl: string, clicks: readonly ClickId[]): Promise<Set<ClickId>> {
  const stores = await openStores(databaseUrl);
  try {
    const deadlineMs = performance.now() + 20_000;
    while (true) {
      const found = new Set((await stores.clicks.find(clicks)).keys());
      if (clicks.every((click) => found.has(click)) || performance.now() > deadlineMs) return found;
      await Bun.sleep(50);
    }
  } finally {
    await stores.close();
  }
}
