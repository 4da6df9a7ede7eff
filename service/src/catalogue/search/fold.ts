// What "ignoring case and accents" means, for both sides of a comparison. Locale-independent.

/** Letters that people without them type as these, though they are no letters with an accent. */
const PLAIN: Record<string, string> = { Ø: 'O', Ł: 'L', Đ: 'D', Ħ: 'H', Ŧ: 'T', Æ: 'AE', Œ: 'OE', Ё: 'Е' };
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');

/**
 * Combining marks where they are accents or optional signs, or begin the text. Elsewhere they make other letters, as in
 * バ and й, or are vowels, as in Hindi and Thai. Variation selectors change only how a character looks.
 */
const ACCENTED =
  /(^|(?=\p{L})[\p{Script=Latin}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}])\p{M}+|\p{Variation_Selector}/gu;

const ASCII = /^[\0-\x7f]*$/;

/**
 * One form of a character that can be written in several, without accents, in one case. Lower-casing and then
 * upper-casing makes ß, ẞ and ss the same, and σ and ς, which lower-casing alone would tell apart by their place in a word.
 */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase();
  const bare = text.normalize('NFKD').replace(ACCENTED, '$1').toLowerCase().toUpperCase();
  if (ASCII.test(bare)) return bare;
  return bare.normalize('NFC').replace(NOT_PLAIN, (letter) => PLAIN[letter] ?? letter);
}
