// Lowers the priority of the thread that calls it, so that requests do not wait for background work.

import { constants, getPriority, setPriority } from 'node:os';

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;

/** Only on Linux: on other systems setPriority affects the whole process. */
export function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority(process.pid) + PRIORITY_BELOW_NORMAL, PRIORITY_LOW));
  } catch {
    // Some containers forbid this; the thread then runs at the same priority as requests.
  }
}
