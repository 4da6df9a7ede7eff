import { describe, expect, test } from 'bun:test';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { StoredDocument } from '../../src/domain/stored-document.ts';
import { DATABASES } from '../support/databases.ts';
import { idOf, newIds, openTestStores, readCatalogue } from './open-test-stores.ts';

/** Two full batches, and one with a single document. */
const MANY = 401;

function documents(count: number, text: string): StoredDocument[] {
  return Array.from({ length: count }, (_, i) => ({ id: idOf(i), document: `${text} ${i} "ä" 💡` }));
}

describe.each(DATABASES)('the catalogue on $name', (database) => {
  const open = openTestStores();

  test('a write sees its own changes, and other connections see them once it returns', async () => {
    const { stores } = await open.scene(database);
    const [a, b, c] = [idOf(1), idOf(2), idOf(3)];
    const item = (id: Uuid, document: string) => ({ id, document });
    await stores.catalogue.write((writer) => writer.put([item(a, 'a1'), item(b, 'b1')], 'awin:1'));

    const seen = await stores.catalogue.write(async (writer) => {
      await writer.put([item(c, 'c1')], 'awin:2');
      await writer.put([item(a, 'a2')]);
      await writer.remove([b, idOf(9)]);
      const read: StoredDocument[] = [];
      await writer.read(async (batch) => {
        read.push(...batch);
      });
      const found = await writer.find([a, b, c, idOf(9)]);
      return { found, sources: [...(await writer.sources())], read };
    });

    const now = [item(a, 'a2'), item(c, 'c1')];
    const found = new Map(now.map(({ id, document }) => [id, document]));
    const sources: [Uuid, string | null][] = [
      [a, null],
      [c, 'awin:2'],
    ];
    expect(seen).toEqual({ found, sources, read: now });
    expect(await readCatalogue(stores)).toEqual({ revision: 0, documents: now });
  });

  test('a read sees one snapshot even if a write commits between its batches', async () => {
    const { url, stores } = await open.scene(database);
    const writing = await open.stores(url);
    const before = documents(MANY, 'v1');
    await stores.catalogue.write((writer) => writer.put(before));

    const read: StoredDocument[] = [];
    const revision = await stores.catalogue.read(async (batch) => {
      if (read.length === 0) {
        await writing.catalogue.write(async (writer) => {
          await writer.put(documents(MANY, 'v2'));
          await writer.remove([idOf(MANY - 1)]);
          await writer.markChanged();
        });
      }
      read.push(...batch.map(({ id, document }) => ({ id, document })));
    });

    expect({ revision, documents: read }).toEqual({ revision: 0, documents: before });
    expect(await readCatalogue(stores)).toEqual({
      revision: 1,
      documents: documents(MANY, 'v2').slice(0, -1),
    });
  });

  test('writes that start at the same time run one after the other', async () => {
    const url = await database.create();
    const handles = await Promise.all([open.stores(url), open.stores(url), open.stores(url)]);
    const [id] = newIds(1) as [StoredDocument['id']];

    await Promise.all(
      [...handles, ...handles].map((stores) =>
        stores.catalogue.write(async (writer) => {
          const count = Number((await writer.find([id])).get(id) ?? 0);
          await writer.put([{ id, document: String(count + 1) }]);
          await writer.markChanged();
        }),
      ),
    );

    expect(await readCatalogue(handles[0])).toEqual({ revision: 6, documents: [{ id, document: '6' }] });
  });
});
