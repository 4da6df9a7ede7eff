// A database that is opened when it is first needed, and again by the next who asks when that has failed.

import type { Database } from './database.ts';

export interface LazyDatabase {
  open(): Promise<Database>;
  close(): Promise<void>;
}

export function lazyDatabase(connect: () => Promise<Database>): LazyDatabase {
  let opened: Promise<Database> | undefined;
  return {
    async open() {
      opened ??= connect();
      try {
        return await opened;
      } catch (error) {
        opened = undefined;
        throw error;
      }
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}
