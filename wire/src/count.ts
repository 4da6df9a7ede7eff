// Formats counts for messages.

/** `1 row`, `1,200 rows` */
export function printCountOf(count: number, noun: string): string {
  return `${printCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `1 token, 1,200 clicks and 0 users` from `{ tokens, clicks, users }` */
export function printCountsOf(counts: Readonly<Record<string, number>>): string {
  const words = Object.entries(counts).map(([nouns, count]) => printCountOf(count, nouns.slice(0, -1)));
  return new Intl.ListFormat('en-GB').format(words);
}

export function printCount(count: number): string {
  return count.toLocaleString('en-US');
}
