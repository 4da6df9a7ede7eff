// Waits for an import that runs in another process.

import { isStorageError } from '../../src/domain/storage-error.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';

/** Waits until another process holds the lock on the organisation's change clock. */
export async function untilWriting(url: string): Promise<void> {
  const stores = await openStores(url, { ...COMMAND_OPTIONS, lockTimeoutMs: 0 });
  try {
    const org = await stores.organisations.find('acme');
    while (
      await stores.transactions
        .write(org?.id ?? 0, async () => true)
        .catch((error) => !isStorageError(error, 'busy'))
    ) {
      await Bun.sleep(5);
    }
  } finally {
    await stores.close();
  }
}
