// Tokens in memory, with a real database: when a new token starts working, and how its last use is stored.

import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { TokenStore } from '../../src/domain/access-token.ts';
import { digestToken, newTokenText } from '../../src/domain/access-token.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { tokenDirectory } from '../../src/http/access/token-directory.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { closing } from '../../src/storage/open-once.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { SQLITE } from '../support/databases.ts';
import { leakWatch } from '../support/leak-watch.ts';
import { until } from '../support/until.ts';

async function issue(stores: Stores): Promise<string> {
  const text = newTokenText('public');
  leakWatch.noteToken(text);
  const org = (await stores.organisations.find('acme')) ?? (await stores.organisations.create('acme'));
  const token = { kind: 'public', label: '', digest: digestToken(text), expiresAtMs: null } as const;
  await stores.tokens.add({ ...token, orgId: org?.id ?? -1 });
  return text;
}

test('a token is valid as soon as it is issued, even while another token is being looked up', async () => {
  await using stores = closing(await openStores(await SQLITE.create(), CREATE_OPTIONS));
  const [hasRead, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const readRevisions = async () => {
    const revisions = await stores.revisions();
    hasRead.resolve();
    await mayAnswer.promise;
    return revisions;
  };
  const directory = tokenDirectory(stores.tokens, readRevisions, Date.now);
  await directory.refresh();
  const unknown = directory.findNew(newTokenText('public'));
  await hasRead.promise;
  const text = await issue(stores);
  const issued = directory.findNew(text);
  mayAnswer.resolve();
  expect(await unknown).toBeUndefined();
  expect((await issued)?.digest).toBe(digestToken(text));
});

test('every kind of invalid token is looked up once, so that the time of a rejection reveals nothing', async () => {
  await using stores = closing(await openStores(await SQLITE.create(), CREATE_OPTIONS));
  const steps: string[] = [];
  const list = () => {
    steps.push('list');
    return stores.tokens.list();
  };
  const readRevisions = () => {
    steps.push('revisions');
    return stores.revisions();
  };
  const [live, ended] = [await issue(stores), await issue(stores)];
  const { tokens } = await stores.tokens.list();
  await stores.tokens.revoke(tokens.find(({ digest }) => digest === digestToken(ended))?.id as Uuid);
  const directory = tokenDirectory({ ...stores.tokens, list }, readRevisions, Date.now);
  await directory.refresh();
  for (const text of [newTokenText('public'), ended, live.replace('ob_', 'xx_'), `${live}x`, '']) {
    steps.length = 0;
    expect([directory.findKnown(text), await directory.findNew(text)]).toEqual([undefined, undefined]);
    expect(steps).toEqual(['revisions']);
  }
});

test('if two refreshes finish out of order, the result of the later refresh is kept', async () => {
  await using stores = closing(await openStores(await SQLITE.create(), CREATE_OPTIONS));
  const text = await issue(stores);
  const mayAnswer = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let lists = 0;
  const store: TokenStore = {
    ...stores.tokens,
    async list() {
      const answer = await stores.tokens.list();
      await mayAnswer[lists++]?.promise;
      return answer;
    },
  };
  const directory = tokenDirectory(store, stores.revisions, Date.now);
  const earlier = directory.refresh();
  await until(() => lists);
  const { tokens } = await stores.tokens.list();
  await stores.tokens.revoke(tokens[0]?.id ?? ('' as Uuid));
  const later = directory.refresh();
  mayAnswer[1]?.resolve();
  await later;
  expect(directory.findKnown(text)).toBeUndefined();
  const { revision } = directory;
  mayAnswer[0]?.resolve();
  await earlier;
  expect(directory.findKnown(text)).toBeUndefined();
  expect(directory.revision).toBe(revision);
});

test('a token revoked by a machine whose clock is an hour ahead is rejected at once', async () => {
  const url = await SQLITE.create();
  await using stores = closing(await openStores(url, CREATE_OPTIONS, () => Date.now() + 3_600_000));
  const text = await issue(stores);
  const directory = tokenDirectory(stores.tokens, stores.revisions, Date.now);
  await directory.refresh();
  const known = directory.findKnown(text);
  await stores.tokens.revoke(known?.id ?? ('' as Uuid));
  expect(await directory.findNew(text)).toBeUndefined();
  expect(known?.digest).toBe(digestToken(text));
});

test("a token's last use survives a failed write and never replaces a later use", async () => {
  const url = await SQLITE.create();
  await using stores = closing(await openStores(url, { ...SERVER_OPTIONS, create: true }));
  const [once, twice] = [await issue(stores), await issue(stores)];
  let nowMs = 100;
  const directory = tokenDirectory(stores.tokens, stores.revisions, () => nowMs);
  await directory.refresh();
  directory.findKnown(once);
  directory.findKnown(twice);

  const other = new Database(url.slice('sqlite:'.length));
  other.run('BEGIN IMMEDIATE');
  const failing = directory.flushUsed();
  nowMs = 200;
  directory.findKnown(twice);
  await expect(failing).rejects.toThrow();
  other.run('ROLLBACK');
  other.close();

  await directory.flushUsed();
  const { tokens } = await stores.tokens.list();
  expect(new Map(tokens.map(({ digest, lastUsedAtMs }) => [digest, lastUsedAtMs]))).toEqual(
    new Map([
      [digestToken(once), 100],
      [digestToken(twice), 200],
    ]),
  );
});
