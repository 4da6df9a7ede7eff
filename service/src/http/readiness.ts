// What /readyz says, on the port of the service and on the admin port.

export interface Health {
  /** Whether requests should come here: everything is loaded, and nothing is shutting down. */
  readonly isReady: boolean;
  /** Whether what requests need from the database can be had. */
  readonly isDatabaseUsable: boolean;
  /** Whether clicks go to the spool, because the database takes none. */
  readonly areClicksSpooled: boolean;
  /** Whether a disk that clicks are written to has less free space than the reserve: no click is written there. */
  readonly isClickDiskLow: boolean;
}

/**
 * Without the database a node is still ready: it serves the catalogue. All nodes share one database, so that load balancers
 * would take out every one of them.
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
