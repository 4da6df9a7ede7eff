// Finds the name that a client probably meant, for "did you mean" in errors.

const LENGTH_MAX = 64;

/** Returns the known name nearest to a given one; undefined if none is near. Ignores case and punctuation. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const written = fold(given);
  if (written === '' || written.length > LENGTH_MAX) return undefined;
  const distances = known.map((name) => ({ name, distance: distanceBetween(written, fold(name)) }));
  const [nearest] = distances.toSorted((one, other) => one.distance - other.distance);
  if (nearest === undefined) return undefined;
  if (nearest.distance <= Math.max(1, Math.floor(nearest.name.length / 4))) return nearest.name;
  return known.find((name) => isPart(written, fold(name)) || isPart(fold(name), written));
}

/** `uid` is a part of `passbackUid`. Shorter strings are parts of too many names. */
function isPart(part: string, whole: string): boolean {
  return part.length >= 3 && whole.includes(part);
}

/** Keeps only letters and digits, in lower case: `updated_at` and `updatedAt` fold to the same string. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Number of characters that are missing, added, wrong, or swapped with their neighbour. */
function distanceBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped && row > 1 && column > 1 ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[other.length] ?? 0;
}
