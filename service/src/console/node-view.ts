// What the console shows of the running node. It is sent to the thread that makes the pages, so it is data without
// behaviour.

import type { NodeState } from '../http/metrics.ts';
import type { HourFigures } from './recent-hour.ts';

export interface NodeView {
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly state: NodeState;
  readonly hour: HourFigures;
  /** How many workers there are meant to be. */
  readonly workers: number;
}
