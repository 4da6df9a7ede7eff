// Has snapshots of the catalogue built in a thread of their own, one at a time. The thread is started with the node and
// kept, because a thread that is started when no file handles are left ends the whole process (Bun 1.4).

import type { SnapshotData } from '../../catalogue/catalogue.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import type { BuildResult } from './snapshot-thread.ts';
import { fromThreadFailure } from './thread-failure.ts';

export class SnapshotBuilder {
  readonly #databaseUrl: string;
  readonly #tracer: Tracer | undefined;
  #thread: Worker | undefined;
  #underWay: PromiseWithResolvers<SnapshotData> | undefined;
  #isClosed = false;

  constructor(databaseUrl: string, tracer?: Tracer) {
    this.#databaseUrl = databaseUrl;
    this.#tracer = tracer;
    this.#thread = this.#startThread();
  }

  /** A snapshot of what was committed before the call, and perhaps of more. Call it again only when this has ended. */
  build(): Promise<SnapshotData> {
    if (this.#tracer === undefined) return this.#build();
    return this.#tracer.trace('catalogue build', async ({ attributes }) => {
      const data = await this.#build();
      attributes['offerbook.catalogue.revision'] = data.revision;
      return data;
    });
  }

  /** Ends the thread, and fails a build that is under way or comes later. */
  close(): void {
    this.#isClosed = true;
    this.#thread?.terminate();
    this.#thread = undefined;
    this.#underWay?.reject(closed());
  }

  async #build(): Promise<SnapshotData> {
    if (this.#isClosed) throw closed();
    if (this.#underWay !== undefined) throw new Error('a snapshot is being built already');
    this.#underWay = Promise.withResolvers();
    try {
      this.#thread ??= this.#startThread();
      this.#thread.postMessage(this.#databaseUrl);
      return await this.#underWay.promise;
    } finally {
      this.#underWay = undefined;
    }
  }

  #startThread(): Worker {
    // No extension: it is .ts in a checkout, and .js where the program is built.
    const thread = new Worker(new URL('./snapshot-thread', import.meta.url));
    thread.onmessage = ({ data: result }: MessageEvent<BuildResult>) => {
      if ('data' in result) this.#underWay?.resolve(result.data);
      else this.#underWay?.reject(fromThreadFailure(result.failure));
    };
    thread.onerror = ({ message }) => {
      this.#thread = undefined;
      thread.terminate();
      this.#underWay?.reject(new Error(`the thread that builds the catalogue has failed: ${message}`));
    };
    return thread;
  }
}

function closed(): Error {
  return new Error('the catalogue is no longer built');
}
