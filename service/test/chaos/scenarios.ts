// All scenarios, in the order of `npm run test:chaos -- --help`.

import type { Scenario } from './scenario.ts';
import { durability } from './scenarios/durability.ts';

export const SCENARIOS: readonly Scenario[] = [durability];
