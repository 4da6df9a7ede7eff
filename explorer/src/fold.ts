// Texts as they are compared in a search.

const PLAIN: Readonly<Record<string, string>> = { Ø: 'O', Ł: 'L', Đ: 'D', Ħ: 'H', Ŧ: 'T', Æ: 'AE', Œ: 'OE' };

/** The same folding as the service's: without accents and strokes, and ß, ẞ and ss are one. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .toUpperCase()
    .replace(/[ØŁĐĦŦÆŒ]/g, (letter) => PLAIN[letter] ?? letter);
}
