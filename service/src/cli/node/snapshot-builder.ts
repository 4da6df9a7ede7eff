// Builds catalogue snapshots in a thread. The thread starts with the node and keeps running, because Bun 1.4 exits the whole
// process if a thread is started when no file handle is free.

import type { SnapshotData } from '../../catalogue/snapshot-data.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import { threadClient } from './threads/thread-client.ts';

export type SnapshotBuilder = ReturnType<typeof openSnapshotBuilder>;

export function openSnapshotBuilder(databaseUrl: string, tracer?: Tracer) {
  const thread = threadClient<string, SnapshotData>(new URL('./snapshot-thread', import.meta.url));
  thread.start();
  return {
    /** Returns a snapshot that contains at least everything committed before the call. */
    async build(): Promise<SnapshotData> {
      if (tracer === undefined) return thread.call(databaseUrl);
      return tracer.trace('catalogue build', async ({ attributes }) => {
        const data = await thread.call(databaseUrl);
        attributes['offerbook.catalogue.revision'] = data.revision;
        return data;
      });
    },
    /** Ends the thread. Pending and later builds reject. */
    close: () => thread.close(),
  };
}
