// All scenarios, in the order of `npm run test:chaos -- --help`.

import type { Scenario } from './scenario.ts';
import { clicks } from './scenarios/clicks.ts';
import { deploys } from './scenarios/deploys.ts';
import { durability } from './scenarios/durability.ts';
import { failover } from './scenarios/failover.ts';
import { faults } from './scenarios/faults.ts';
import { hostile } from './scenarios/hostile.ts';
import { large } from './scenarios/large.ts';
import { load } from './scenarios/load.ts';
import { polling } from './scenarios/polling.ts';
import { pull } from './scenarios/pull.ts';
import { replica } from './scenarios/replica.ts';
import { webhooks } from './scenarios/webhooks.ts';
import { workers } from './scenarios/workers.ts';

export const SCENARIOS: readonly Scenario[] = [
  polling,
  failover,
  replica,
  durability,
  faults,
  clicks,
  deploys,
  workers,
  load,
  large,
  hostile,
  pull,
  webhooks,
];
