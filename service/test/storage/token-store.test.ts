import { describe, expect, test } from 'bun:test';
import type { NewToken, Stores } from '../../src/domain/stores.ts';
import { newUuid } from '../../src/domain/uuid.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { newOrganisation, openTestStores } from './open-test-stores.ts';

for (const database of DATABASES) {
  describe(`tokens on ${database.name}`, () => {
    const open = openTestStores();

    async function newStores(): Promise<{ stores: Stores; orgId: number }> {
      const stores = await open.stores(await database.create(), COMMAND_OPTIONS, () => 5_000);
      return { stores, orgId: (await newOrganisation(stores)).id };
    }

    function token(orgId: number, digest: string): NewToken {
      return { orgId, kind: 'private', label: 'nightly job', digest, expiresAtMs: null };
    }

    test('an added token is listed as it was given, with the revision that says so', async () => {
      const { stores, orgId } = await newStores();
      const added = await stores.tokens.add({ ...token(orgId, 'd1'), expiresAtMs: 9_000 });

      expect(added).toEqual({
        id: added.id,
        orgId,
        orgName: 'acme',
        kind: 'private',
        label: 'nightly job',
        digest: 'd1',
        createdAtMs: 5_000,
        expiresAtMs: 9_000,
        revokedAtMs: null,
        lastUsedAtMs: null,
      });
      expect(await stores.tokens.list()).toEqual({ revision: 1, tokens: [added] });
      expect(await stores.revisions()).toEqual({ catalogue: 0, tokens: 1 });
    });

    test('the same token cannot be added twice', async () => {
      const { stores, orgId } = await newStores();
      const added = await stores.tokens.add(token(orgId, 'd1'));
      await expect(stores.tokens.add(token(orgId, 'd1'))).rejects.toThrow();
      expect(await stores.tokens.list()).toEqual({ revision: 1, tokens: [added] });
    });

    test('the end of a token can be brought forward and never put off', async () => {
      const { stores, orgId } = await newStores();
      const { id } = await stores.tokens.add(token(orgId, 'd1'));
      const ends = [];
      for (const endsAtMs of [8_000, 9_000, 7_000]) {
        ends.push((await stores.tokens.endAt(id, endsAtMs))?.revokedAtMs);
      }
      expect(ends).toEqual([8_000, 8_000, 7_000]);
      expect((await stores.tokens.list()).revision).toBe(4);
    });

    test('ending a token that does not exist changes nothing', async () => {
      const { stores } = await newStores();
      expect(await stores.tokens.endAt(newUuid(), 8_000)).toBeUndefined();
      expect(await stores.tokens.list()).toEqual({ revision: 0, tokens: [] });
    });

    test('a rotation adds the successor and ends the old token, in one step', async () => {
      const { stores, orgId } = await newStores();
      const old = await stores.tokens.add(token(orgId, 'd1'));
      const rotated = await stores.tokens.rotate(old.id, token(orgId, 'd2'), 6_000);
      const { tokens } = await stores.tokens.list();
      expect(tokens).toEqual([
        { ...old, revokedAtMs: 6_000 },
        { ...old, id: tokens[1]?.id ?? old.id, digest: 'd2' },
      ]);
      expect<unknown>(rotated).toEqual({ replaced: tokens[0], successor: tokens[1] });
    });

    test('a rotation whose successor cannot be added leaves the old token alone', async () => {
      const { stores, orgId } = await newStores();
      const old = await stores.tokens.add(token(orgId, 'd1'));
      await expect(stores.tokens.rotate(old.id, token(orgId, 'd1'), 6_000)).rejects.toThrow();
      expect(await stores.tokens.list()).toEqual({ revision: 1, tokens: [old] });
    });

    test('rotating a token that does not exist adds nothing', async () => {
      const { stores, orgId } = await newStores();
      expect(await stores.tokens.rotate(newUuid(), token(orgId, 'd2'), 6_000)).toBeUndefined();
      expect(await stores.tokens.list()).toEqual({ revision: 0, tokens: [] });
    });

    test('the last use never moves back, and no revision rises for it', async () => {
      const { stores, orgId } = await newStores();
      const a = await stores.tokens.add(token(orgId, 'a'));
      const b = await stores.tokens.add(token(orgId, 'b'));
      await stores.tokens.touch(
        new Map([
          [b.id, 200],
          [a.id, 100],
          [newUuid(), 300],
        ]),
      );
      await stores.tokens.touch(new Map([[a.id, 150]]));
      await stores.tokens.touch(
        new Map([
          [a.id, 50],
          [b.id, 250],
        ]),
      );
      expect(await stores.tokens.list()).toEqual({
        revision: 2,
        tokens: [
          { ...a, lastUsedAtMs: 150 },
          { ...b, lastUsedAtMs: 250 },
        ],
      });
    });
  });
}
