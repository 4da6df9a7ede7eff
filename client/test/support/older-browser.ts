// Removes features that the oldest supported browsers (Chrome 93, Firefox 92, Safari 15.4) lack from a newer browser, as far as
// a script can, so that code that needs one of them fails.

/** Newer properties, each with the first Chrome, Firefox and Safari that support it. */
const MISSING: Readonly<Record<string, string>> = {
  'AbortSignal.any': '116, 124, 17.4',
  'AbortSignal.timeout': '103, 100, 16.0',
  'AbortSignal.prototype.reason': '98, 97, 15.4',
  'AbortSignal.prototype.throwIfAborted': '100, 97, 15.4',
  'Array.fromAsync': '121, 115, 16.4',
  'Array.prototype.findLast': '97, 104, 15.4',
  'Array.prototype.findLastIndex': '97, 104, 15.4',
  'Array.prototype.toReversed': '110, 115, 16.0',
  'Array.prototype.toSorted': '110, 115, 16.0',
  'Array.prototype.toSpliced': '110, 115, 16.0',
  'Array.prototype.with': '110, 115, 16.0',
  'Iterator.prototype.filter': '122, 131, 18.4',
  'Iterator.prototype.flatMap': '122, 131, 18.4',
  'Iterator.prototype.map': '122, 131, 18.4',
  'Iterator.prototype.some': '122, 131, 18.4',
  'Iterator.prototype.toArray': '122, 131, 18.4',
  'Map.groupBy': '117, 119, 17.4',
  'Object.groupBy': '117, 119, 17.4',
  'Promise.try': '128, 134, 18.2',
  'Promise.withResolvers': '119, 121, 17.4',
  'Response.json': '105, 115, 17.0',
  'Set.prototype.difference': '122, 127, 17.0',
  'Set.prototype.intersection': '122, 127, 17.0',
  'Set.prototype.union': '122, 127, 17.0',
  'String.prototype.isWellFormed': '111, 119, 16.4',
  'String.prototype.toWellFormed': '111, 119, 16.4',
  'URL.canParse': '120, 115, 17.0',
  'URL.parse': '126, 126, 18.0',
  'URLSearchParams.prototype.size': '113, 112, 17.0',
  structuredClone: '98, 94, 15.4',
};

/** A script that removes all of them; throws if one cannot be removed. */
export const MAKE_OLDER: string = `for (const path of ${JSON.stringify(Object.keys(MISSING))}) {
  const names = path.split('.');
  const name = names.pop();
  const owner = names.reduce((value, key) => value?.[key], globalThis);
  // A runtime without the owner also lacks the property.
  if (owner === undefined) continue;
  delete owner[name];
  if (name in owner) throw new Error(path + ' cannot be taken away');
}`;
