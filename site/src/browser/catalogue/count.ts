// Formats numbers and counts with their nouns.

const NUMBER = new Intl.NumberFormat('en');

export function printNumber(number: number): string {
  return NUMBER.format(number);
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${printNumber(number)} ${number === 1 ? one : many}`;
}
