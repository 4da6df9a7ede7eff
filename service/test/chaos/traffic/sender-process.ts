// A process that sends webhooks like a server, but with a short lease, until SIGTERM. Its parent decides whether it can reach the
// lease. Prints errors.

import { systemClock } from '../../../src/domain/clock.ts';
import { Logger } from '../../../src/domain/logger.ts';
import { isStorageError } from '../../../src/domain/storage-error.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { openStores } from '../../../src/storage/open-stores.ts';
import { addressRules } from '../../../src/webhooks/address-rules.ts';
import { startSender } from '../../../src/webhooks/sender.ts';
import { until } from '../../support/until.ts';

export const LEASE_MS = 3_000;
export const TIMEOUT_MS = 400;

if (import.meta.main) {
  // A server would exit if the database does not accept its first connection, and be started again.
  const open = () =>
    openStores(process.argv[2] ?? '').catch((error) => {
      if (!isStorageError(error, 'unavailable')) throw error;
    });
  const stores = (await until(open)) as Stores;
  let isCutOff = false;
  process.on('message', (isCut: boolean) => {
    isCutOff = isCut;
  });
  const senderLease: typeof stores.senderLease = {
    ...stores.senderLease,
    renew: (name, holder) =>
      isCutOff ? Promise.reject(new Error('cut off')) : stores.senderLease.renew(name, holder),
  };
  const sender = startSender({
    stores: { ...stores, senderLease },
    clock: systemClock,
    logger: new Logger('error', (line) => void process.stdout.write(line)),
    post: { rules: addressRules(['127.0.0.1']), timeoutMs: TIMEOUT_MS },
    leaseTimings: { leaseMs: LEASE_MS, renewEveryMs: 150, checkEveryMs: 50 },
  });
  process.once('SIGTERM', async () => {
    await sender.stop(500);
    await stores.close();
    process.exit(0);
  });
}
