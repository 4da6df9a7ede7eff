// Checks that the attacks on imports and conversions share.

import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { withTimeout } from '../../../src/domain/promises.ts';
import type { Run } from '../report/run.ts';

/** Number of inputs of an attack, its seed, and its time limit, as parameters of fast-check. */
export interface Extent {
  readonly numRuns: number;
  readonly seed: number;
  readonly interruptAfterTimeLimit: number;
}

/** Far longer than a file of a few rows takes, on any machine. */
const PATIENCE_MS = 60_000;
const PROTOTYPE_NAMES = Object.getOwnPropertyNames(Object.prototype).sort().join();
const SUMMARY = /^Nothing was (?:imported|converted): ./;
/** Attacks of this size meet every case. */
const ALL_OUTCOMES_FROM = 200;
const MORE = /^… and [\d,]+ more$/;

/** The result or the error of an import or a conversion. Throws if it does not end or if it changes the prototype of objects. */
export async function outcomeOf<T>(work: Promise<T>): Promise<T | Error> {
  const outcome = await withTimeout(work, PATIENCE_MS, () => new Error('the file takes too long')).catch(
    (error: Error) => error,
  );
  const names = Object.getOwnPropertyNames(Object.prototype).sort().join();
  if (names !== PROTOTYPE_NAMES || 'polluted' in {})
    throw new Error('the prototype of all objects was changed');
  return outcome;
}

/** What happened to damaged files of one kind. `empty` counts files without a valid row. */
export const newOutcomes = () => ({ accepted: 0, empty: 0, 'rejected with places': 0, 'rejected whole': 0 });

/**
 * Checks the message of a rejected file: it must contain the reason, or the location of each invalid row. Files with invalid
 * rows are rejected with `rowError`.
 */
export function rejectionOf(
  error: Error,
  rowError: new (...args: never[]) => Error,
  { place, whole }: { readonly place: RegExp; readonly whole: RegExp },
) {
  const { message } = error;
  if (!(error instanceof BadInput || error instanceof Refused)) throw error;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal would interpret them
  if (/[\x00-\x09\x0b-\x1f\x7f-\x9f]/.test(message))
    throw new Error(`has control characters: ${JSON.stringify(message)}`);
  if (!(error instanceof rowError)) {
    if (!whole.test(message)) throw new Error(`the error does not give the reason: ${message}`);
    return 'rejected whole';
  }
  const [summary = '', ...places] = message.split('\n').reverse();
  if (!SUMMARY.test(summary)) throw new Error(`the error has no summary: ${message}`);
  if (places.length === 0 || places.some((line) => !place.test(line) && !MORE.test(line)))
    throw new Error(`the error does not name the place: ${message}`);
  return 'rejected with places';
}

/** Large attacks must meet accepted and invalid files. */
export function reportOutcomes(run: Run, kind: string, outcomes: ReturnType<typeof newOutcomes>): void {
  const files = Object.values(outcomes).reduce((sum, count) => sum + count);
  run.rows.push({ files, of: kind, ...outcomes });
  const fewest = Math.min(outcomes.accepted, outcomes['rejected with places']);
  if (files >= ALL_OUTCOMES_FROM)
    run.require(`${kind} files must be accepted and rejected`, fewest > files / 50);
}
