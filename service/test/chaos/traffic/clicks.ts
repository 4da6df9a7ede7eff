// Clicks during failures: servers are killed while users click, and the database is stopped and restarted. In the end,
// every redirect that contained a click id has exactly one record.

import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { ClickId } from '../../../src/domain/click.ts';
import { importCatalogue } from '../../../src/importer/import-catalogue.ts';
import { CREATE_OPTIONS, openStores } from '../../../src/storage/open-stores.ts';
import { ServerProcess } from '../../support/command.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { coupon, id, retailer } from '../../support/fixtures.ts';
import { ndjson } from '../../support/test-node.ts';

/** Number of users that click concurrently. */
const USERS_AT_ONCE = 8;
const NETWORK = 'https://network.example/';

export interface ClickOutcome {
  /** Redirects that contained a click id. */
  readonly answered: number;
  /** Clicks of these redirects that are not in the database. */
  readonly lost: number;
  /** Click ids that more than one user got. */
  readonly twice: number;
}

export interface ClickRounds {
  readonly databaseUrl: string;
  /** Number of times that the server is killed. */
  readonly kills: number;
  /** Number of clicks between two kills. */
  readonly clicksEach: number;
  /** Stops the database between the first two kills; returns a function that restarts it. */
  readonly takeAway?: () => Promise<() => Promise<void>>;
}

export async function clickUnderFaults(rounds: ClickRounds): Promise<ClickOutcome> {
  const { databaseUrl, kills, clicksEach, takeAway } = rounds;
  const orgId = await prepareClicks(databaseUrl);
  const env = {
    OFFERBOOK_DATABASE_URL: databaseUrl,
    OFFERBOOK_SPOOL: temporaryFolder(),
    // Thousands of users share one address, and some disks are small.
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
  // The next server moves the clicks left in the spool.
  const last = await ServerProcess.start([], { env });
  const recorded = await untilRecorded(databaseUrl, clickers.answered);
  await last.stop();
  return {
    answered: clickers.answered.length,
    lost: clickers.answered.filter((click) => !recorded.has(click)).length,
    twice: clickers.answered.length - new Set(clickers.answered).size,
  };
}

export class Clickers {
  readonly answered: ClickId[] = [];
  readonly #orgId: string;
  readonly #usersAtOnce: number;
  readonly #pauseMs: number;
  #users = 0;

  /** `pauseMs` is the time between a response and the next click. */
  constructor(orgId: string, { usersAtOnce = USERS_AT_ONCE, pauseMs = 0 } = {}) {
    this.#orgId = orgId;
    this.#usersAtOnce = usersAtOnce;
    this.#pauseMs = pauseMs;
  }

  /** Every user clicks once; ends when the server has exited. */
  async click(url: string): Promise<void> {
    await Promise.all(Array.from({ length: this.#usersAtOnce }, () => this.#clickOn(url)));
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
        // A plain URL does not contain a click id, so no record is expected.
        if (location.startsWith(NETWORK)) this.answered.push(location.slice(NETWORK.length) as ClickId);
      } catch {
        return;
      }
      if (this.#pauseMs > 0) await Bun.sleep(this.#pauseMs);
    }
  }
}

/** Creates an organisation and a link to click on; returns the organisation's public id. */
export async function prepareClicks(databaseUrl: string): Promise<string> {
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

/** Waits until the spool is empty, as long as the number of clicks in it decreases. */
export async function untilRecorded(databaseUrl: string, clicks: readonly ClickId[]): Promise<Set<ClickId>> {
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
