// Users that click. In the end, every redirect that contained a click id must have exactly one record.

import type { ClickId } from '../../../src/domain/click.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { coupon, id, retailer } from '../../support/fixtures.ts';
import { untilMore } from '../../support/until.ts';
import { seed, withStores } from '../cluster/seed.ts';

const NETWORK = 'https://network.example/';

/** `pauseMs` is the time between a response and the next click. */
export function newClickers(orgId: string, { usersAtOnce = 8, pauseMs = 0 } = {}) {
  const answered: ClickId[] = [];
  let users = 0;

  async function clickOn(url: string): Promise<void> {
    while (true) {
      const query = new URLSearchParams({ orgId, passbackUid: `user ${users++}` });
      try {
        const target = `${url}/v1/coupons/${id(21)}/activate/?${query}`;
        const location = (await fetch(target, { redirect: 'manual' })).headers.get('Location') ?? '';
        // A plain URL does not contain a click id, so no record is expected.
        if (location.startsWith(NETWORK)) answered.push(location.slice(NETWORK.length) as ClickId);
      } catch {
        return;
      }
      await Bun.sleep(pauseMs);
    }
  }

  return {
    answered,
    /** Several users click concurrently, each once; ends when the server has exited. */
    async click(url: string): Promise<void> {
      await Promise.all(Array.from({ length: usersAtOnce }, () => clickOn(url)));
    },
    async untilAnswered(more: number): Promise<void> {
      await untilMore(() => answered.length, more);
    },
  };
}

/** Creates an organisation and a link to click on; returns the organisation's public id. */
export async function prepareClicks(databaseUrl: string): Promise<string> {
  const { org } = await seed(databaseUrl, [retailer(1, { coupons: [coupon(21)] })], []);
  const link = { id: id(1), kind: 'retailer', template: `${NETWORK}{click}` } as const;
  await withStores(databaseUrl, (stores) => stores.links.write((writer) => writer.put([link])));
  return org.publicId;
}

/** Waits until all clicks are recorded, or until none has been added for this time. Returns the recorded ones. */
export async function untilRecorded(
  stores: Stores,
  clicks: readonly ClickId[],
  patienceMs = 20_000,
): Promise<Set<ClickId>> {
  let [count, progressMs] = [0, performance.now()];
  while (true) {
    const found = new Set((await stores.clicks.find(clicks)).keys());
    if (found.size > count) [count, progressMs] = [found.size, performance.now()];
    const isOver = performance.now() - progressMs > patienceMs;
    if (isOver || clicks.every((click) => found.has(click))) return found;
    await Bun.sleep(50);
  }
}
