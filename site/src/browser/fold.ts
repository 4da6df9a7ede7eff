// Folds strings for searching. A copy of service/src/catalogue/search/fold.ts, which explains it.

const PLAIN: Record<string, string> = { Ø: 'O', Ł: 'L', Đ: 'D', Ħ: 'H', Ŧ: 'T', Æ: 'AE', Œ: 'OE', Ё: 'Е' };
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g');
const ACCENTED =
  /(^|(?=\p{L})[\p{Script=Latin}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}])\p{M}+|\p{Variation_Selector}/gu;
const ASCII = /^[\0-\x7f]*$/;

/** Removes case, accents and strokes. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase();
  const bare = text.normalize('NFKD').replace(ACCENTED, '$1').toLowerCase().toUpperCase();
  if (ASCII.test(bare)) return bare;
  return bare.normalize('NFC').replace(NOT_PLAIN, (letter) => PLAIN[letter] ?? letter);
}
