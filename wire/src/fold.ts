// Folds strings for comparisons that ignore case and accents, independent of the locale. Fold both sides of a comparison.

/** Letters that Unicode does not decompose, with the letters that people type instead. */
const PLAIN: Record<string, string> = { Ø: 'O', Ł: 'L', Đ: 'D', Ħ: 'H', Ŧ: 'T', Æ: 'AE', Œ: 'OE', Ё: 'Е' };
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');

/**
 * Combining marks that are accents or optional signs, or that start the string. In other scripts, a mark can form a different
 * letter (バ, й) or be a vowel (Hindi, Thai). Variation selectors only change how a character looks.
 */
const ACCENTED =
  /(^|(?=\p{L})[\p{Script=Latin}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}])\p{M}+|\p{Variation_Selector}/gu;

const ASCII = /^[\0-\x7f]*$/;

/** Lower-casing before upper-casing makes ß, ẞ and ss equal, and also σ and ς. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase();
  const bare = text.normalize('NFKD').replace(ACCENTED, '$1').toLowerCase().toUpperCase();
  if (ASCII.test(bare)) return bare;
  return bare.normalize('NFC').replace(NOT_PLAIN, (letter) => PLAIN[letter] ?? letter);
}
