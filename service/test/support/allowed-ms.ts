/**
 * How long a test waits for an event with a documented time limit: ten times the limit, because test machines may be slow
 * or busy. `npm run test:chaos -- faults`, on an otherwise idle machine, checks the documented limits themselves.
 */
export function allowedMs(promisedMs: number): number {
  return 10 * promisedMs;
}
