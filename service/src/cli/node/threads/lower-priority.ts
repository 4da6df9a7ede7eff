// Lowers the priority of the thread that calls it, so that requests do not wait for background work.

import { constants, getPriority, setPriority } from 'node:os';

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;

/** `by` is added to the nice value. Only on Linux: on other systems setPriority affects the whole process. */
export function lowerPriority(by: number = PRIORITY_BELOW_NORMAL): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority(process.pid) + by, PRIORITY_LOW));
  } catch {
    // Some containers forbid this; the thread then runs at the same priority as requests.
  }
}
