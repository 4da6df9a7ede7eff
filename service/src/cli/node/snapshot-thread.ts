// The thread in which snapshots of the catalogue are built, beside the thread that serves requests. It answers each
// database URL with a snapshot or with what went wrong, and gives back the memory that it needed.

import { constants, getPriority, setPriority } from 'node:os';
import { buildSnapshotData } from '../../catalogue/build/build-snapshot.ts';
import type { SnapshotData } from '../../catalogue/catalogue.ts';
import type { CatalogueStore } from '../../domain/catalogue.ts';
import { systemClock } from '../../domain/clock.ts';
import type { Database, DatabaseOptions } from '../../storage/database.ts';
import { openDatabase, SERVER_OPTIONS } from '../../storage/open-database.ts';
import { catalogueStore } from '../../storage/stores/catalogue-store.ts';
import { type ThreadFailure, toThreadFailure } from './thread-failure.ts';

export type BuildResult = { readonly data: SnapshotData } | { readonly failure: ThreadFailure };

type OnBatch = Parameters<CatalogueStore['read']>[0];

const CHARACTERS_BETWEEN_COLLECTIONS = 16 * 1024 * 1024;

/** One connection apart from those that requests use, so that it does not wait for them, nor they for it. */
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

/** The schema was brought up to date when the node started. */
async function build(databaseUrl: string): Promise<SnapshotData> {
  database ??= openDatabase(databaseUrl, DATABASE_OPTIONS);
  const store = catalogueStore(database, systemClock);
  const data = await buildSnapshotData({ read: (onBatch) => store.read(withoutGarbage(onBatch)) });
  giveWay();
  return data;
}

/**
 * From the second snapshot on there are requests to be answered meanwhile. On a core that they keep busy, this thread gets
 * a tenth from now on. Only Linux takes the priority for the calling thread's; elsewhere it is the whole process's.
 */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority(process.pid) + PRIORITY_BELOW_NORMAL, PRIORITY_LOW));
  } catch {
    // Where a sandbox of the operating system forbids it, requests share the core with the thread, as before.
  }
}

/** Left to itself, the collector lets hundreds of megabytes pile up, in a process that has to share its memory. */
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
