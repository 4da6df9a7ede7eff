// Finds the parameter that a misspelt name was meant to be.

/** The known name that differs from the given one only in case, punctuation (`per_page`) or one typing error. */
export function findNearMiss<Name extends string>(given: string, known: readonly Name[]): Name | undefined {
  const written = foldName(given);
  return known.find((name) => isOneErrorAway(written, foldName(name)));
}

/** Lower-case letters and digits of a name: `updated_at` and `updatedAt` fold to the same string. */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** True if the strings are equal but for one character that is missing, added, wrong, or swapped with its neighbour. */
function isOneErrorAway(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  if (start === one.length && start === other.length) return true;
  const [restOfOne, restOfOther] = [one.slice(start), other.slice(start)];
  return (
    restOfOne.slice(1) === restOfOther ||
    restOfOne === restOfOther.slice(1) ||
    restOfOne.slice(1) === restOfOther.slice(1) ||
    (restOfOne[0] === restOfOther[1] &&
      restOfOne[1] === restOfOther[0] &&
      restOfOne.slice(2) === restOfOther.slice(2))
  );
}
