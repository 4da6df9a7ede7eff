// The state of a calm node, which a test overrides where it matters.

import type { NodeState } from '../../src/http/metrics.ts';

export const NODE_STATE: NodeState = {
  requests: { routes: new Map(), organisations: new Map(), errors: new Map() },
  isReady: true,
  databaseStatus: { state: 'usable' },
  catalogueRevision: 7,
  catalogueItems: { retailers: 1, cashbackOffers: 2, coupons: 0, promotions: 3 },
  database: undefined,
  replica: undefined,
  pools: undefined,
  cluster: undefined,
  clicks: undefined,
  spans: undefined,
  checks: [],
  workers: { ready: 2, restarts: 3 },
};
