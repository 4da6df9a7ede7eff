// The messages between the main thread and its workers. They are plain data, because postMessage copies them.

import type { SnapshotData } from '../../../catalogue/snapshot-data.ts';
import type { ServeSettings } from '../../../config.ts';
import type { TracingSettings } from '../../../tracing/tracing-settings.ts';
import type { ThreadFailure } from '../threads/thread-client.ts';
import type { WorkerReport } from './worker-report.ts';

export interface WorkerSetup {
  /** Starts at 1; a replacement keeps the number of the worker it replaces. */
  readonly number: number;
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  readonly tracing: TracingSettings | undefined;
  /** Request counts for rate limits, shared by all workers. */
  readonly counts: Int32Array<SharedArrayBuffer>;
}

export type ToWorker =
  | { readonly type: 'start'; readonly setup: WorkerSetup }
  /** A new catalogue. The worker opens the port after receiving the first catalogue. */
  | { readonly type: 'snapshot'; readonly snapshot: SnapshotData }
  | { readonly type: 'stop' };

export type FromWorker =
  /** Sent several times a second; also serves as a heartbeat. */
  | { readonly type: 'report'; readonly report: WorkerReport }
  /** The worker has opened the port. */
  | { readonly type: 'ready' }
  | { readonly type: 'log'; readonly lines: string }
  | { readonly type: 'failed'; readonly failure: ThreadFailure }
  /** The worker has closed everything and can be terminated. */
  | { readonly type: 'stopped' };
