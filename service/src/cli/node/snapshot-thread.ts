// The thread that builds snapshots of the catalogue, so that requests do not wait for it. It answers each database URL with
// a snapshot or an error, and then frees the memory that it used.

import { constants, getPriority, setPriority } from 'node:os';
import { buildSnapshotData } from '../../catalogue/build/build-snapshot.ts';
import type { SnapshotData } from '../../catalogue/snapshot-data.ts';
import type { CatalogueStore } from '../../domain/catalogue.ts';
import { systemClock } from '../../domain/clock.ts';
import type { Database, DatabaseOptions } from '../../storage/database.ts';
import { openDatabase, SERVER_OPTIONS } from '../../storage/open-database.ts';
import { catalogueStore } from '../../storage/stores/catalogue-store.ts';
import { type ThreadFailure, toThreadFailure } from './thread-failure.ts';

export type BuildResult = { readonly data: SnapshotData } | { readonly failure: ThreadFailure };

type OnBatch = Parameters<CatalogueStore['read']>[0];

const CHARACTERS_BETWEEN_COLLECTIONS = 16 * 1024 * 1024;

/** A separate connection, so that builds and requests do not wait for each other. */
const DATABASE_OPTIONS: DatabaseOptions = {
  durable: false,
  lockTimeoutMs: 0,
  statementTimeoutMs: SERVER_OPTIONS.statementTimeoutMs,
  connectionsMax: 1,
};
const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;
let database: Database | undefined;

declare const self: Worker;

self.onmessage = async ({ data: databaseUrl }: MessageEvent<string>) => {
  await answer(databaseUrl);
  Bun.gc(true);
};

async function answer(databaseUrl: string): Promise<void> {
  let result: BuildResult;
  try {
    result = { data: await build(databaseUrl) };
  } catch (error) {
    result = { failure: toThreadFailure(error) };
  }
  self.postMessage(result);
}

/** Does not upgrade the schema: the node has already done so. */
async function build(databaseUrl: string): Promise<SnapshotData> {
  database ??= openDatabase(databaseUrl, DATABASE_OPTIONS);
  const store = catalogueStore(database, systemClock);
  const data = await buildSnapshotData((onBatch) => store.read(withoutGarbage(onBatch)));
  giveWay();
  return data;
}

/**
 * Lowers this thread's priority after the first snapshot, because from then on requests compete with builds. Only on Linux:
 * elsewhere setPriority changes the whole process.
 */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority(process.pid) + PRIORITY_BELOW_NORMAL, PRIORITY_LOW));
  } catch {
    // Some containers forbid it; builds then have the same priority as requests.
  }
}

/** Collects garbage during the build; otherwise hundreds of megabytes accumulate. */
function withoutGarbage(onBatch: OnBatch): OnBatch {
  let characters = 0;
  return async (batch) => {
    await onBatch(batch);
    for (const { document } of batch) characters += document.length;
    if (characters < CHARACTERS_BETWEEN_COLLECTIONS) return;
    characters = 0;
    Bun.gc(true);
  };
}
