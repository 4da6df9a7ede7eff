// Builds snapshots of the catalogue in a thread, one at a time. The thread starts with the node and stays, because starting
// one without free file handles ends the whole process (Bun 1.4).

import type { SnapshotData } from '../../catalogue/snapshot-data.ts';
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

  /** Returns a snapshot of at least everything committed before the call. One call at a time. */
  build(): Promise<SnapshotData> {
    if (this.#tracer === undefined) return this.#build();
    return this.#tracer.trace('catalogue build', async ({ attributes }) => {
      const data = await this.#build();
      attributes['offerbook.catalogue.revision'] = data.revision;
      return data;
    });
  }

  /** Ends the thread. Builds in progress, and later ones, reject. */
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
    // No extension: .ts in a checkout, .js in the built program.
    const thread = new Worker(new URL('./snapshot-thread', import.meta.url));
    thread.onmessage = ({ data: result }: MessageEvent<BuildResult>) => {
      if ('data' in result) this.#underWay?.resolve(result.data);
      else this.#underWay?.reject(fromThreadFailure(result.failure));
    };
    thread.onerror = ({ message }) => {
      this.#thread = undefined;
      thread.terminate();
      this.#underWay?.reject(new Error(`the thread that builds the catalogue failed: ${message}`));
    };
    return thread;
  }
}

function closed(): Error {
  return new Error('the node is stopping and builds no more catalogues');
}
