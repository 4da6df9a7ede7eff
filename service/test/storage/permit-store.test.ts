import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { COMMAND_OPTIONS, openDatabase, openStores } from '../../src/storage/open-stores.ts';
import { openPermitStore } from '../../src/storage/permit-store.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';

setDefaultTimeout(30_000);

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

/** The permit stores of two nodes on one database, and the database itself. */
async function openNodes() {
  const url = await newPostgresDatabase();
  await (await openStores(url)).close();
  const nodes = [openPermitStore(url), openPermitStore(url)] as const;
  const database = openDatabase(url, COMMAND_OPTIONS);
  opened.push(...nodes, database);
  return { nodes, database };
}

test('nodes that take permits for the same keys in another order never wait for each other in a circle', async () => {
  const { nodes } = await openNodes();
  const wanted = Array.from({ length: 500 }, (_, i) => ({ key: `key ${i}`, count: 1 }));
  const sizes: number[] = [];
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all([nodes[0].take(wanted), nodes[1].take(wanted.toReversed())]);
    sizes.push(...answers.map(({ taken }) => taken.size));
  }
  expect(sizes).toEqual(Array(20).fill(500));
});

test('what was taken in windows long gone is forgotten', async () => {
  const { nodes, database } = await openNodes();
  await database.write((connection) =>
    connection.all('INSERT INTO request_counts (key, window_number, taken) VALUES (1, 1, 7), (2, 2, 7)'),
  );
  const { windowNumber } = await nodes[0].take([{ key: 'key', count: 3 }]);
  const rows = () =>
    database.all<{ window_number: number; taken: number }>('SELECT window_number, taken FROM request_counts');
  while ((await rows()).length > 1) await Bun.sleep(10);
  expect(await rows()).toEqual([{ window_number: windowNumber, taken: 3 }]);
});
