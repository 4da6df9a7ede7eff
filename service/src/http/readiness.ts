// The response of /readyz, on the public port and the admin port.

import type { NodeState } from './metrics.ts';

export type Health = Pick<NodeState, 'isReady' | 'databaseStatus' | 'clicks'>;

/** Ready even without a usable database, which all nodes share: load balancers would otherwise remove every node at once. */
export function readiness({ isReady, databaseStatus, clicks }: Health) {
  return {
    status: isReady ? 200 : 503,
    headers: { 'Cache-Control': 'no-store', ...(isReady ? {} : { 'Retry-After': '1' }) },
    body: {
      status: isReady ? 'ready' : 'not ready',
      database: databaseStatus.state === 'unreachable' ? 'unusable' : databaseStatus.state,
      ...(clicks === undefined || clicks.fate === 'recorded' ? {} : { clicks: clicks.fate }),
      ...(clicks?.isDiskLow ? { disk: 'low' } : {}),
    },
  };
}
