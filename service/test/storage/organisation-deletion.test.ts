// An organisation is deleted with everything that belongs to it, and with nothing else.

import { describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import { StorageError } from '../../src/domain/storage-error.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { recordImport } from '../../src/importer/import-report.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { copyDatabase } from '../../src/storage/copy-database.ts';
import { DATABASES } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { id, transaction } from '../support/fixtures.ts';
import { putDocuments } from '../support/put-documents.ts';
import { ndjson, TestNode } from '../support/test-node.ts';
import {
  importRows,
  interrupted,
  issueToken,
  newOrganisation,
  openTestStores,
  readAllTransactions,
  rejection,
  TEST_AUDITOR,
} from './open-test-stores.ts';

async function fill(stores: Stores, org: Organisation, firstNumber: number) {
  const rows = (status: 'PENDING' | 'CONFIRMED') =>
    [0, 1, 2].map((n) => transaction(firstNumber + n, { status }));
  for (const status of ['PENDING', 'CONFIRMED'] as const) {
    const source = sourceFrom(ndjson(rows(status)));
    const origin = { kind: 'transactions', orgId: org.id, by: 'me', source: null } as const;
    await recordImport(stores.imports, { ...origin, fileName: 'a.csv', version: '1' }, source, (importId) =>
      importTransactions(stores, org, source, Date.now, { importId }),
    );
  }
  await stores.erasures.erase(org, 'somebody');
  return recordClick(stores, org.id);
}

const NOW = { reloadMs: 0 };

describe.each(DATABASES)('deleting an organisation on $name', (database) => {
  const open = openTestStores();

  async function scene() {
    const { url, stores, org } = await open.scene(database);
    const kept = await newOrganisation(stores, 'kept');
    const keptClick = await fill(stores, kept, 100);
    await issueToken(stores, kept.id);
    const click = await fill(stores, org, 1);
    const keptState = async () => ({
      transactions: await readAllTransactions(stores, kept.id),
      versions: await stores.history.versions(id(100)),
      clicks: await stores.clicks.find([keptClick.id]),
      imports: await stores.imports.list({ orgId: kept.id, limit: 10 }),
      tokens: (await stores.tokens.list()).tokens,
      organisations: await stores.organisations.list(),
    });
    return { url, stores, org, click, keptState };
  }

  test('deleting an organisation removes everything that belongs to it, and keeps other organisations and the audit log', async () => {
    const { stores, org, click, keptState } = await scene();
    const before = await keptState();
    const token = await issueToken(stores, org.id);
    const counts = { tokens: 1, transactions: 3, versions: 3, clicks: 1, imports: 2 };
    expect(await stores.organisations.contents('acme')).toEqual({ ...counts, liveTokens: 1 });

    expect(await rejection(stores.organisations.delete('acme', NOW))).toMatchObject({
      kind: 'conflict',
      message: '"acme" has 1 valid token; nothing was changed',
    });
    expect(await stores.organisations.contents('acme')).toEqual({ ...counts, liveTokens: 1 });

    await stores.tokens.revoke(token.id);
    expect(await stores.organisations.delete('acme', NOW)).toEqual(counts);
    expect(await keptState()).toEqual({
      ...before,
      organisations: before.organisations.filter(({ name }) => name === 'kept'),
    });
    expect(await stores.clicks.countOf({ orgId: org.id })).toBe(0);
    expect(await stores.clicks.find([click.id])).toEqual(new Map());
    const audit = await stores.audit.list({ org: 'acme', limit: 20 });
    expect(audit[0]).toMatchObject({ action: 'organisation deleted', org: 'acme', details: counts });
    expect(audit.at(-1)).toMatchObject({ action: 'organisation created' });
    expect(await stores.organisations.delete('acme', NOW)).toBeUndefined();
    expect(await stores.organisations.contents('acme')).toBeUndefined();
  });

  test("a deleted organisation's number is never reused, so late sales of its clicks belong to no organisation", async () => {
    const { url, stores, org, click } = await scene();
    await stores.organisations.delete('acme', NOW);
    const next = await newOrganisation(stores, 'acme');
    expect(next.id).not.toBe(org.id);
    const { passbackUid: _, ...sale } = transaction(50);
    const rows = [{ ...sale, clickId: click.id }];
    const late = importRows(stores, undefined, rows, Date.now);
    expect((await rejection(late)).message).toContain('is not a click id of this installation');
    // A copy, to either database, does not reuse the number either.
    await stores.organisations.delete('acme', NOW);
    for (const { create } of DATABASES) {
      const copy = await create();
      await copyDatabase(url, copy, TEST_AUDITOR);
      const made = await newOrganisation(await open.stores(copy), 'new');
      expect([org.id, next.id]).not.toContain(made.id);
    }
  });

  test('after an interrupted deletion, the organisation cannot be found or imported into, and deleting it again succeeds', async () => {
    const { stores, org } = await scene();
    await issueToken(stores, org.id);
    await interrupted((onBatch) =>
      stores.organisations.delete('acme', { ...NOW, revokesTokens: true, onBatch }),
    );
    expect(await stores.organisations.find('acme')).toBeUndefined();
    expect((await stores.organisations.list()).map(({ name }) => name)).toEqual(['kept']);
    expect((await stores.tokens.list()).tokens.filter(({ orgId }) => orgId === org.id)).toEqual([]);
    expect((await stores.imports.totals()).feeds.map(({ orgName }) => orgName)).toEqual(['kept']);
    expect(await stores.transactions.writeAll(async ({ of }) => of(org.id))).toBeUndefined();
    expect(await rejection(importRows(stores, org, [transaction(60)]))).toEqual(
      new StorageError('gone', 'the organisation has been deleted'),
    );
    expect(await stores.organisations.create('acme')).toBeUndefined();
    // Issued by a process that had found the organisation before its deletion began.
    await issueToken(stores, org.id);
    expect(await stores.organisations.delete('acme', NOW)).toEqual({
      tokens: 1,
      transactions: 0,
      versions: 3,
      clicks: 1,
      imports: 2,
    });
    expect(await stores.organisations.create('acme')).toMatchObject({ name: 'acme' });
  });

  test('a deletion makes servers reload links once, and tokens at its beginning and at its end', async () => {
    const { stores } = await scene();
    const before = await stores.revisions();
    await stores.organisations.delete('acme', NOW);
    // A token issued in between is deleted at the end, and servers that loaded it must notice.
    expect(await stores.revisions()).toEqual({
      ...before,
      activation: before.activation + 1,
      tokens: before.tokens + 2,
    });
  });

  test('a deletion waits for a running import and removes what it wrote', async () => {
    const { url, stores, org } = await scene();
    const importer = await open.stores(url);
    let deleting: Promise<unknown> = Promise.resolve();
    await importer.transactions.write(org.id, async (writer) => {
      deleting = stores.organisations.delete('acme', { ...NOW, revokesTokens: true });
      const document = JSON.stringify({ ...transaction(70), updatedAt: '2026-11-14T12:00:00' });
      await putDocuments(writer, [{ id: id(70), document }]);
    });
    expect(await deleting).toMatchObject({ transactions: 4 });
    expect(await stores.history.versions(id(70))).toEqual([]);
  });

  test("a running server stops accepting a deleted organisation's tokens and links", async () => {
    await using node = await TestNode.start({ databaseUrl: await database.create() });
    const token = await node.token('private');
    const publicId = (await node.stores.organisations.list())[0]?.publicId;
    expect((await node.get('/v1/transactions/', token)).status).toBe(200);
    // The deletion waits until servers have had time to notice it.
    await node.stores.organisations.delete('acme', { revokesTokens: true });
    const link = `/v1/retailers/${id(1)}/activate/?orgId=${publicId}&passbackUid=anna`;
    const answers = [await node.get('/v1/transactions/', token), await node.get(link)];
    expect(answers.map(({ status }) => status)).toEqual([401, 404]);
  });
});
