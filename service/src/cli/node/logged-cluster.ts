// Logs failovers of PostgreSQL and former primaries that still accept writes.

import type { Logger } from '../../domain/logger.ts';
import type { ClusterOptions } from '../../storage/postgres/cluster-watch.ts';

export function loggedCluster(logger: Logger): ClusterOptions {
  return {
    onRivals(rivals) {
      if (rivals.length === 0) logger.info('only the primary accepts writes');
      else logger.warn({ rivals }, 'former PostgreSQL primaries still accept writes; stop them');
    },
    onFailover({ timeline, lost }) {
      if (lost.length === 0) logger.info({ timeline }, 'PostgreSQL has failed over; no change was lost');
      else
        logger.error(
          { timeline, lost },
          'PostgreSQL has failed over and lost changes; all transactions of these organisations will get new stamps',
        );
    },
    onUnsettled() {
      logger.error(
        'PostgreSQL has failed over, and no server knows whether changes were lost; see docs/operations/failover.md',
      );
    },
    onRestamped({ org, transactions }) {
      logger.info({ org, transactions }, 'transactions have new stamps after a failover');
    },
    onRestampFailed(error) {
      logger.error({ err: error }, 'assigning new stamps after a failover failed; the server will retry');
    },
  };
}
