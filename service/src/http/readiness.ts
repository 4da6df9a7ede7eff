// The response of /readyz, on the public port and the admin port.

import type { ClickFate } from '../domain/click.ts';
import type { DatabaseStatus } from '../health/facts.ts';

export interface Health {
  /** True if the node has loaded its data and is not shutting down. Load balancers send requests only to ready nodes. */
  readonly isReady: boolean;
  readonly databaseStatus: DatabaseStatus;
  readonly clickFate: ClickFate;
  /** True if a disk that stores clicks has less free space than the reserve. Clicks are then not written to that disk. */
  readonly isClickDiskLow: boolean;
}

/** Ready even without a usable database, which all nodes share: load balancers would otherwise remove every node at once. */
export function readiness({ isReady, databaseStatus, clickFate, isClickDiskLow }: Health) {
  return {
    status: isReady ? 200 : 503,
    headers: { 'Cache-Control': 'no-store', ...(isReady ? {} : { 'Retry-After': '1' }) },
    body: {
      status: isReady ? 'ready' : 'not ready',
      database: databaseStatus.state === 'unreachable' ? 'unusable' : databaseStatus.state,
      ...(clickFate === 'recorded' ? {} : { clicks: clickFate }),
      ...(isClickDiskLow ? { disk: 'low' } : {}),
    },
  };
}
