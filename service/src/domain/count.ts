// Numbers of things, as people read them.

/** `1 row`, `1,200 rows` */
export function printCountOf(count: number, noun: string): string {
  return `${printCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function printCount(count: number): string {
  return count.toLocaleString('en-US');
}
