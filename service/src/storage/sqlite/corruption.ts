// Reports a corrupt SQLite file to every thread of this process. Each thread has its own connections, and only those that read a
// damaged page notice. The next statement may succeed, because it reads other pages.

import { resolve } from 'node:path';

const CHANNEL = 'offerbook-corruption';

interface Corruption {
  readonly path: string;
  readonly reason: string;
}

export function reportCorruption(path: string, reason: string): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage({ path: resolve(path), reason } satisfies Corruption);
  channel.close();
}

/** Returns a function that stops watching. */
export function watchCorruption(paths: readonly string[], onCorrupt: (reason: string) => void): () => void {
  const watched = paths.map((path) => resolve(path));
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = (message) => {
    const { path, reason } = message.data as Corruption;
    if (watched.includes(path)) onCorrupt(reason);
  };
  channel.unref();
  return () => channel.close();
}
