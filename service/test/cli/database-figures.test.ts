import { expect, test } from 'bun:test';
import { databaseFigures } from '../../src/cli/node/database-figures.ts';
import { digestToken, newTokenText } from '../../src/domain/access-token.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { newOrganisation, openTestStores } from '../storage/open-test-stores.ts';
import { DATABASES } from '../support/databases.ts';

const DAY_MS = 86_400_000;

const open = openTestStores();

test.each(DATABASES)(
  'on $name, database figures include the number of tokens that expire soon, and stay unchanged while the database is unreachable',
  async (database) => {
    let nowMs = Date.UTC(2026, 10, 14);
    const stores = await open.stores(await database.create(), COMMAND_OPTIONS, () => nowMs);
    const { id: orgId } = await newOrganisation(stores);
    const add = async (days: number | null) => {
      const expiresAtMs = days === null ? null : nowMs + days * DAY_MS;
      const digest = digestToken(newTokenText('public'));
      return stores.tokens.add({ orgId, kind: 'public', label: '', digest, expiresAtMs });
    };
    for (const days of [null, 1, 13, 15]) await add(days);
    // This token has been rotated, so its expiry is intended.
    await stores.tokens.rotate((await add(2)).id, (old) => ({
      successor: { ...old, digest: 'successor', expiresAtMs: null },
      overlapEndsAtMs: nowMs + DAY_MS,
    }));
    let isAway = false;
    const tokens = {
      ...stores.tokens,
      list: () => (isAway ? Promise.reject(new Error('away')) : stores.tokens.list()),
    };
    const read = databaseFigures({ ...stores, tokens }, () => nowMs);
    expect((await read())?.figures.tokensExpiring).toBe(2);
    nowMs += 2 * DAY_MS;
    const later = await read();
    expect(later?.figures.tokensExpiring).toBe(2);
    isAway = true;
    expect(await read()).toEqual(later);
    expect(await databaseFigures({ ...stores, tokens }, () => nowMs)()).toBeUndefined();
  },
);
