// Commits that happen while a node builds or swaps in a snapshot. The node's snapshot builder is real, except that a test can
// delay its result.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { startNode } from '../../src/cli/node/node.ts';
import { openSnapshotBuilder } from '../../src/cli/node/snapshot-builder.ts';
import { readServeSettings } from '../../src/config.ts';
import { digestToken, newTokenText } from '../../src/domain/access-token.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { Logger } from '../../src/domain/logger.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { offer, retailer } from '../support/fixtures.ts';
import { leakWatch } from '../support/leak-watch.ts';
import { freePort } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';
import { SOON_MS, until } from '../support/until.ts';

describe.each(DATABASES)('on $name', ({ create }) => {
  let stores: Stores;
  /** Runs after the next build of the catalogue and before the node gets its result. */
  let meanwhile: (() => Promise<void>) | undefined;
  let port: number;
  /** The node's log. */
  let lines: string[];
  let start: () => Promise<AsyncDisposable>;
  /** A token issued before the imports, because a commit after them would make the node poll again. */
  let reader: string;

  beforeEach(async () => {
    const databaseUrl = await create();
    stores = await openStores(databaseUrl, CREATE_OPTIONS);
    const builder = openSnapshotBuilder(databaseUrl);
    const build = async () => {
      const data = await builder.build();
      const work = meanwhile;
      meanwhile = undefined;
      await work?.();
      return data;
    };
    port = await freePort();
    const settings = readServeSettings({ port: String(port) }, {});
    lines = [];
    const logger = new Logger('info', (line) => lines.push(line));
    start = async () => {
      const node = await startNode(
        { settings, databaseUrl, logger, clock: systemClock },
        { builder: { ...builder, build } },
      );
      return { [Symbol.asyncDispose]: () => node.stop() };
    };
    await stores.organisations.create('acme');
    reader = await issueToken();
  });

  afterEach(() => stores.close());

  async function issueToken(): Promise<string> {
    const text = newTokenText('public');
    leakWatch.noteToken(text);
    const orgId = (await stores.organisations.find('acme'))?.id ?? 0;
    const token = { orgId, kind: 'public', label: '', digest: digestToken(text), expiresAtMs: null } as const;
    await stores.tokens.add(token);
    return text;
  }

  async function addRetailer(number: number): Promise<void> {
    const rows = ndjson([retailer(number, { cashbackOffers: [offer(10 + number)] })]);
    await importCatalogue(stores.catalogue, sourceFrom(rows), { merge: true });
  }

  function get(token: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${port}/v1/retailers/`, { headers: { Authorization: `Bearer ${token}` } });
  }

  /** Waits until the node has noticed all earlier commits. The node reloads links in the same poll, so wait for that. */
  async function untilNoticed(): Promise<void> {
    const reloads = () => lines.filter((line) => line.includes('links reloaded')).length;
    const before = reloads();
    await stores.organisations.create(`other-${before}`);
    await until(reloads, (count) => count > before);
  }

  async function addAnother(): Promise<void> {
    await addRetailer(2);
    await untilNoticed();
  }

  async function untilServed(names: readonly string[]): Promise<void> {
    const served = async () => {
      const { data } = (await (await get(reader)).json()) as { data: { name: string }[] };
      return data.map(({ name }) => name);
    };
    await until(served, (found) => Bun.deepEquals(found, names), SOON_MS);
  }

  test('an import that finishes while the node is loading its catalogue is served', async () => {
    await addRetailer(1);
    meanwhile = addAnother;
    await using _node = await start();
    await untilServed(['Retailer 1', 'Retailer 2']);
  });

  test('an import that finishes while the node is reloading the previous import is also served', async () => {
    await using _node = await start();
    meanwhile = addAnother;
    await addRetailer(1);
    await untilServed(['Retailer 1', 'Retailer 2']);
    expect(meanwhile).toBeUndefined();
  });

  test('a catalogue whose reload fails is reloaded again soon', async () => {
    await using _node = await start();
    meanwhile = async () => {
      throw new Error('a failure of this test');
    };
    await addRetailer(1);
    await untilServed(['Retailer 1']);
    expect(meanwhile).toBeUndefined();
  });
});
