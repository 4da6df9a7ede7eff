// Tells a misspelt parameter from one that is not ours. A filter that is silently ignored because of a typing error
// shows everything; but clients also add parameters of their own, such as cache busters, and those stay ignored.

/** The known name that was probably meant: the same in another case, or one typing error away. Undefined for none. */
export function findNearMiss<Name extends string>(given: string, known: readonly Name[]): Name | undefined {
  const written = given.toLowerCase();
  return known.find((name) => isOneErrorAway(written, name.toLowerCase()));
}

/** Whether two texts are equal but for one character that is missing, added, wrong, or swapped with its neighbour. */
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
