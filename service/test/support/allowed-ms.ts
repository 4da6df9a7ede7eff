/**
 * What a test allows for something that is promised within a time. Tests share their machine with each other, and it may be
 * slow: ten times the promise still tells what comes by itself from what does not come. On a machine that does nothing
 * else, `npm run test:faults` holds promises to the letter.
 */
export function allowedMs(promisedMs: number): number {
  return 10 * promisedMs;
}
