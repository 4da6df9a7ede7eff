// What the main thread of a node and its workers tell each other. It is sent from one thread to another, so it is data
// without behaviour.

import type { SnapshotData } from '../../../catalogue/catalogue.ts';
import type { ServeSettings } from '../../../config.ts';
import type { TracingSettings } from '../../../tracing/tracing-settings.ts';
import type { ThreadFailure } from '../thread-failure.ts';
import type { WorkerReport } from './worker-report.ts';

export interface WorkerSetup {
  /** From 1 on; a worker that replaces another has its number. */
  readonly number: number;
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  readonly tracing: TracingSettings | undefined;
  /** In which the workers of a node count requests together. */
  readonly counts: SharedArrayBuffer;
}

export type ToWorker =
  /** The first message. */
  | { readonly type: 'start'; readonly setup: WorkerSetup }
  /** The catalogue from now on. The worker opens the port when it has the first one. */
  | { readonly type: 'snapshot'; readonly snapshot: SnapshotData }
  | { readonly type: 'stop' };

export type FromWorker =
  /** Sent several times a second from the first message on: the worker lives, and this is how it is doing. */
  | { readonly type: 'report'; readonly report: WorkerReport }
  /** The worker has opened the port. */
  | { readonly type: 'ready' }
  /** Whole lines of the log. */
  | { readonly type: 'log'; readonly lines: string }
  | { readonly type: 'failed'; readonly failure: ThreadFailure }
  /** The worker has closed everything, and may be ended. */
  | { readonly type: 'stopped' };
