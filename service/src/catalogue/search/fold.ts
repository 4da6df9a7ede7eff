// What "ignoring case and accents" means, for both sides of a comparison. Locale-independent.

/** Letters that people without them type as these, though Unicode does not take them apart. */
const PLAIN: Readonly<Record<string, string>> = { Ø: 'O', Ł: 'L', Đ: 'D', Ħ: 'H', Ŧ: 'T', Æ: 'AE', Œ: 'OE' };
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');

/**
 * Compatibility decomposition, without combining marks, in one case. Lower-casing and then upper-casing
 * makes ß, ẞ and ss the same, and σ and ς, which lower-casing alone would tell apart by their place in a word.
 */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .toUpperCase()
    .replace(NOT_PLAIN, (letter) => PLAIN[letter] ?? letter);
}
