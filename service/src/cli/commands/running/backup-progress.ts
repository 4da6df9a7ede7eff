// Progress of a backup on a terminal. A thread watches the size of the new folder, because SQLite blocks the thread that copies.

import type { BackupProgressTask } from './backup-progress-thread.ts';

/** Starts the thread if stderr is a terminal. Returns a function that ends it and removes its line. */
export function showBackupProgress(task: BackupProgressTask): () => void {
  if (!process.stderr.isTTY) return () => {};
  // No extension: the file is .ts in a checkout and .js in a build.
  const thread = new Worker(new URL('./backup-progress-thread', import.meta.url));
  thread.onerror = () => thread.terminate();
  thread.unref();
  thread.postMessage(task);
  return () => {
    thread.terminate();
    process.stderr.write('\r\x1b[K');
  };
}
