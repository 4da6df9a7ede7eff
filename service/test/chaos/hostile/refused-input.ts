// Checks that the attacks on imports and conversions share.

import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { withTimeout } from '../../../src/domain/with-timeout.ts';

/** Far longer than a file of a few rows takes, on any machine. */
const PATIENCE_MS = 60_000;
const PROTOTYPE_NAMES = Object.getOwnPropertyNames(Object.prototype).sort().join();
const SUMMARY = /^Nothing was (?:imported|converted): ./;
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

/**
 * Checks the message of a rejected file: the reason, or the location of each invalid row. Returns which of the two it is.
 */
export function checkRefusal(
  error: Error,
  rowError: new (...args: never[]) => Error,
  { place, whole }: { readonly place: RegExp; readonly whole: RegExp },
): 'invalid' | 'refused' {
  const { message } = error;
  if (!(error instanceof BadInput || error instanceof Refused)) throw error;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal would interpret them
  if (/[\x00-\x09\x0b-\x1f\x7f-\x9f]/.test(message))
    throw new Error(`has control characters: ${JSON.stringify(message)}`);
  if (!(error instanceof rowError)) {
    if (!whole.test(message)) throw new Error(`the error does not give the reason: ${message}`);
    return 'refused';
  }
  const [summary = '', ...places] = message.split('\n').reverse();
  if (!SUMMARY.test(summary)) throw new Error(`the error has no summary: ${message}`);
  if (places.length === 0 || places.some((line) => !place.test(line) && !MORE.test(line)))
    throw new Error(`the error does not name the place: ${message}`);
  return 'invalid';
}
