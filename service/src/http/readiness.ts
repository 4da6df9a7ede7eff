// The response of /readyz, on the public port and the admin port.

export interface Health {
  /** True if the node has loaded its data and is not shutting down. Load balancers send requests only to ready nodes. */
  readonly isReady: boolean;
  /** True if the database can serve requests. */
  readonly isDatabaseUsable: boolean;
  /** True while clicks go to the spool because the database does not accept them. */
  readonly areClicksSpooled: boolean;
  /** True if a disk that stores clicks has less free space than the reserve. Clicks are then not written to that disk. */
  readonly isClickDiskLow: boolean;
}

/**
 * A node without a usable database is still ready: it serves the catalogue. All nodes share one database, so load balancers
 * would otherwise remove every node at once.
 */
export function readiness({ isReady, isDatabaseUsable, areClicksSpooled, isClickDiskLow }: Health) {
  return {
    status: isReady ? 200 : 503,
    headers: { 'Cache-Control': 'no-store', ...(isReady ? {} : { 'Retry-After': '1' }) },
    body: {
      status: isReady ? 'ready' : 'not ready',
      database: isDatabaseUsable ? 'usable' : 'unusable',
      ...(areClicksSpooled ? { clicks: 'spooled' } : {}),
      ...(isClickDiskLow ? { disk: 'low' } : {}),
    },
  };
}
