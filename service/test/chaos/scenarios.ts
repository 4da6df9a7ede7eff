// All scenarios, in the order of `npm run test:chaos -- --help`.

import type { Scenario } from './scenario.ts';
import { durability } from './scenarios/durability.ts';
import { failover } from './scenarios/failover.ts';
import { polling } from './scenarios/polling.ts';

export const SCENARIOS: readonly Scenario[] = [polling, failover, durability];
