import { describe, expect, test } from 'bun:test';
import { BadInput } from '@offerbook/wire/failures.ts';
import { newUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import type { AccessToken, NewToken } from '../../src/domain/access-token.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { newPostgresSchema } from '../support/postgres-server.ts';
import { newOrganisation, openTestStores, untilWaiting } from './open-test-stores.ts';

const open = openTestStores();

function token(orgId: number, digest: string): NewToken {
  return { orgId, kind: 'private', label: 'nightly job', digest, expiresAtMs: null };
}

describe.each(DATABASES)('tokens on $name', (database) => {
  const newStores = () => open.scene(database, 5_000);

  test('an added token is listed with all its fields and the new revision', async () => {
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
      overlapEndsAtMs: null,
      revokedAtMs: null,
      lastUsedAtMs: null,
    });
    expect(await stores.tokens.list()).toEqual({ revision: 1, tokens: [added] });
    expect(await stores.revisions()).toEqual({ catalogue: 0, tokens: 1, activation: 1, webhooks: 0 });
  });

  test('rotations can move the end of a token earlier but never later, and a revocation ends it at once', async () => {
    const { stores, orgId, pass } = await newStores();
    const { id } = await stores.tokens.add(token(orgId, 'd0'));
    const ends = [];
    for (const overlapEndsAtMs of [8_000, 9_000, 7_000, null, 6_000]) {
      const successor = token(orgId, `d${ends.length + 1}`);
      const rotated = await stores.tokens.rotate(id, () => ({ successor, overlapEndsAtMs }));
      ends.push([rotated?.replaced.overlapEndsAtMs, rotated?.replaced.revokedAtMs]);
    }
    expect(ends).toEqual([
      [8_000, null],
      [8_000, null],
      [7_000, null],
      [7_000, 5_000],
      [6_000, 5_000],
    ]);
    pass(4_000);
    expect((await stores.tokens.revoke(id))?.revokedAtMs).toBe(5_000);
    expect((await stores.tokens.list()).revision).toBe(7);
  });

  test('a rotation adds the successor and ends the old token in one transaction', async () => {
    const { stores, orgId } = await newStores();
    const old = await stores.tokens.add(token(orgId, 'd1'));
    const rotated = await stores.tokens.rotate(old.id, (found) => {
      expect(found).toEqual(old);
      return { successor: token(orgId, 'd2'), overlapEndsAtMs: 6_000 };
    });
    const { tokens } = await stores.tokens.list();
    expect(tokens).toEqual([
      { ...old, overlapEndsAtMs: 6_000 },
      { ...old, id: tokens[1]?.id ?? old.id, digest: 'd2' },
    ]);
    expect<unknown>(rotated).toEqual({ replaced: tokens[0], successor: tokens[1] });
  });

  const changeless: [string, (stores: Stores, old: AccessToken) => Promise<unknown>, string | undefined][] = [
    ['adding a token twice', ({ tokens }, { orgId }) => tokens.add(token(orgId, 'd1')), expect.any(String)],
    ['revoking an unknown token', ({ tokens }) => tokens.revoke(newUuid()), undefined],
    [
      'rotating an unknown token',
      ({ tokens }, { orgId }) =>
        tokens.rotate(newUuid(), () => ({ successor: token(orgId, 'd2'), overlapEndsAtMs: 6_000 })),
      undefined,
    ],
    [
      'a rotation that the caller rejects',
      ({ tokens }, { id }) =>
        tokens.rotate(id, () => {
          throw new BadInput('too late');
        }),
      'too late',
    ],
    [
      'a rotation whose successor cannot be added',
      ({ tokens }, { id, orgId }) =>
        tokens.rotate(id, () => ({ successor: token(orgId, 'd1'), overlapEndsAtMs: 6_000 })),
      expect.any(String),
    ],
  ];

  test.each(changeless)('%s changes no token', async (_, attempt, failure) => {
    const { stores, orgId } = await newStores();
    const old = await stores.tokens.add(token(orgId, 'd1'));
    const outcome = await attempt(stores, old).catch((error: Error) => error.message);
    expect(outcome).toEqual(failure);
    expect(await stores.tokens.list()).toEqual({ revision: 1, tokens: [old] });
  });

  test("a token's last use never moves back, and updating it does not increment the revision", async () => {
    const { stores, orgId } = await newStores();
    const a = await stores.tokens.add(token(orgId, 'a'));
    const b = await stores.tokens.add(token(orgId, 'b'));
    const touch = (...uses: [Uuid, number][]) => stores.tokens.touch(new Map(uses));
    await touch([b.id, 200], [a.id, 100], [newUuid(), 300]);
    await touch([a.id, 150]);
    await touch([a.id, 50], [b.id, 250]);
    expect(await stores.tokens.list()).toEqual({
      revision: 2,
      tokens: [
        { ...a, lastUsedAtMs: 150 },
        { ...b, lastUsedAtMs: 250 },
      ],
    });
  });
});

describe('tokens on PostgreSQL during other writes', () => {
  /** With a short timeout, a write that has to wait fails soon. */
  const impatient = { ...COMMAND_OPTIONS, lockTimeoutMs: 2_000 };

  test("an organisation's tokens can be issued, rotated and revoked during its import", async () => {
    const url = await newPostgresSchema();
    const [stores, importing] = [await open.stores(url, impatient), await open.stores(url)];
    const { id: orgId } = await newOrganisation(stores);
    const { id } = await stores.tokens.add(token(orgId, 'd1'));
    await importing.transactions.write(orgId, async () => {
      const added = await stores.tokens.add(token(orgId, 'd2'));
      const rotated = await stores.tokens.rotate(id, () => ({
        successor: token(orgId, 'd3'),
        overlapEndsAtMs: 6_000,
      }));
      await stores.tokens.revoke(added.id);
      expect(rotated?.replaced.overlapEndsAtMs).toBe(6_000);
    });
    expect((await stores.tokens.list()).tokens.map(({ digest }) => digest)).toEqual(['d1', 'd2', 'd3']);
  });

  test('a waiting rotation does not block the revocation of other tokens', async () => {
    const url = await newPostgresSchema();
    const [stores, waiting] = [await open.stores(url, impatient), await open.stores(url)];
    const { id: orgId } = await newOrganisation(stores);
    const { id: otherId } = await newOrganisation(stores, 'other');
    const old = await stores.tokens.add(token(orgId, 'd1'));
    const leaked = await stores.tokens.add(token(otherId, 'd2'));
    let rotation: Promise<unknown> = Promise.resolve();
    // Earlier versions of the program lock the organisation like this during an import.
    await open.database(url).write(async (connection) => {
      await connection.all('SELECT id FROM organisations WHERE id = $1 FOR UPDATE', orgId);
      const successor = { successor: token(orgId, 'd3'), overlapEndsAtMs: 6_000 };
      rotation = waiting.tokens.rotate(old.id, () => successor);
      await untilWaiting(open.database(url), 1);
      expect((await stores.tokens.revoke(leaked.id))?.revokedAtMs).toBeNumber();
    });
    expect(await rotation).toMatchObject({
      replaced: { overlapEndsAtMs: 6_000 },
      successor: { digest: 'd3' },
    });
  });

  test('two servers that record the last use of the same tokens in opposite orders do not cause a deadlock', async () => {
    const { url, stores, orgId } = await open.scene({ create: newPostgresSchema });
    const ids: Uuid[] = [];
    for (const digest of ['d1', 'd2', 'd3']) ids.push((await stores.tokens.add(token(orgId, digest))).id);
    const [first, second, third] = ids.toSorted() as [Uuid, Uuid, Uuid];
    const touch = async (...order: Uuid[]) =>
      (await open.stores(url)).tokens.touch(new Map(order.map((id) => [id, 9_000])));
    let touching: Promise<unknown> = Promise.resolve();
    await open.database(url).write(async (connection) => {
      await connection.all('SELECT id FROM tokens WHERE id = $1 FOR UPDATE', third);
      // Without a fixed order, each would lock one token, wait for the third, and then wait for the other's token.
      touching = Promise.all([touch(first, third, second), touch(second, third, first)]);
      await untilWaiting(open.database(url), 2);
    });
    await touching;
    const uses = (await stores.tokens.list()).tokens.map(({ lastUsedAtMs }) => lastUsedAtMs);
    expect(uses).toEqual([9_000, 9_000, 9_000]);
  });

  test('a rotation that waits for another rotation sees the changed token', async () => {
    const { url, stores, orgId } = await open.scene({ create: newPostgresSchema });
    const { id } = await stores.tokens.add(token(orgId, 'd0'));
    const seen: (number | null)[] = [];
    const rotate = (digest: string) =>
      stores.tokens.rotate(id, ({ overlapEndsAtMs }) => {
        seen.push(overlapEndsAtMs);
        return { successor: token(orgId, digest), overlapEndsAtMs: 6_000 };
      });
    const rotations: Promise<unknown>[] = [];
    await open.database(url).write(async (connection) => {
      await connection.all('SELECT value FROM revisions FOR UPDATE');
      for (const digest of ['d1', 'd2']) {
        rotations.push(rotate(digest));
        await untilWaiting(open.database(url), rotations.length);
      }
    });
    await Promise.all(rotations);
    expect(seen).toEqual([null, 6_000]);
  });
});
