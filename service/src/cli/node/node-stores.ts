// Opens the stores of a server, with its replica if it has one, and logs how that is doing.

import type { ServeSettings } from '../../config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Logger } from '../../domain/logger.ts';
import type { Stores } from '../../domain/stores.ts';
import { SERVER_OPTIONS } from '../../storage/open-database.ts';
import { openStores } from '../../storage/open-stores.ts';
import { currentUser } from '../current-user.ts';

interface NodeStoresOptions {
  readonly databaseUrl: string;
  readonly settings: ServeSettings;
  readonly logger: Logger;
}

export async function openNodeStores(options: NodeStoresOptions, clock: Clock): Promise<Stores> {
  const { databaseUrl, settings, logger } = options;
  const { replicaUrl } = settings;
  const by = currentUser();
  if (replicaUrl === undefined) return openStores(databaseUrl, SERVER_OPTIONS, clock, { by });
  return openStores(databaseUrl, SERVER_OPTIONS, clock, {
    by,
    replica: {
      url: replicaUrl,
      onChange({ isUsable, reason }) {
        if (isUsable) logger.info('pages of transactions are read from the replica');
        else logger.warn({ reason }, 'the replica cannot be used; reading from the primary');
      },
    },
  });
}
