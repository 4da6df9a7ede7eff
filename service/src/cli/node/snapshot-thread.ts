// The thread that builds catalogue snapshots, so that requests do not wait for a build. The thread frees its memory after
// each build.

import { buildSnapshotData } from '../../catalogue/build/build-snapshot.ts';
import type { SnapshotData } from '../../catalogue/snapshot-data.ts';
import type { CatalogueStore } from '../../domain/catalogue.ts';
import { systemClock } from '../../domain/clock.ts';
import type { Database } from '../../storage/database.ts';
import { openDatabase } from '../../storage/open-database.ts';
import { catalogueStore } from '../../storage/stores/catalogue-store.ts';
import { answerCalls, lowerPriority, THREAD_DATABASE } from './threads/thread-client.ts';

type OnBatch = Parameters<CatalogueStore['read']>[0];

const CHARACTERS_BETWEEN_COLLECTIONS = 4 * 1024 * 1024;

let database: Database | undefined;
let previous: SnapshotData | undefined;

answerCalls(async (databaseUrl: string) => {
  try {
    return await build(databaseUrl);
  } finally {
    // Runs after the reply has been sent.
    setImmediate(() => Bun.gc(true));
  }
});

/** Does not upgrade the schema: the node has already done so. */
async function build(databaseUrl: string): Promise<SnapshotData> {
  database ??= openDatabase(databaseUrl, { ...THREAD_DATABASE, connectionsMax: 1 });
  const store = catalogueStore(database, systemClock);
  previous = await buildSnapshotData((onBatch) => readCollecting(store, onBatch), previous);
  // Not before the first snapshot is built: only later builds compete with requests.
  lowerPriority();
  return previous;
}

/**
 * Collects garbage while the catalogue is read and before it is arranged; otherwise hundreds of megabytes accumulate. The first
 * build does not wait for the collection, so that the node is ready sooner. Later builds wait, because then memory matters more
 * than time.
 */
async function readCollecting(store: CatalogueStore, onBatch: OnBatch): Promise<number> {
  const collect = () => Bun.gc(previous !== undefined);
  let characters = 0;
  const revision = await store.read(async (batch) => {
    await onBatch(batch);
    for (const { document } of batch) characters += document.length;
    if (characters < CHARACTERS_BETWEEN_COLLECTIONS) return;
    characters = 0;
    collect();
  });
  collect();
  return revision;
}
