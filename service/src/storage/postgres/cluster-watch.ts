// Watches a PostgreSQL cluster for a server: reports servers that accept writes although another has replaced them.

import type { ClusterState } from '../../domain/stores.ts';
import type { Database } from '../database.ts';

export interface ClusterOptions {
  /** Called when servers that have been replaced begin or cease to accept writes. */
  readonly onRivals: (rivals: readonly string[]) => void;
}

export class ClusterWatch {
  readonly #database: Database;
  readonly #options: ClusterOptions;
  #rivals: readonly string[] = [];

  constructor(database: Database, options: ClusterOptions) {
    this.#database = database;
    this.#options = options;
  }

  get state(): ClusterState {
    return { rivals: this.#rivals };
  }

  check(): void {
    const rivals = this.#database.rivals() ?? [];
    if (rivals.join() === this.#rivals.join()) return;
    this.#rivals = rivals;
    this.#options.onRivals(rivals);
  }
}
