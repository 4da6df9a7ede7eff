// What "ignoring case and accents" means, for both sides of a comparison. Locale-independent.

/**
 * Compatibility decomposition, without combining marks, in one case. Lower-casing and then upper-casing
 * makes ß, ẞ and ss the same, and σ and ς, which lower-casing alone would tell apart by their place in a word.
 */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .toUpperCase();
}
