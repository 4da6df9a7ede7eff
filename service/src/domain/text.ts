// What a text may be. Apart from the schemas, which a thread that only reads need not load.

/** A thousand transactions with two texts of this length, every character escaped, still fit into one value of a database. */
export const TEXT_LENGTH_MAX = 65_536;

/** JSON can write half of a surrogate pair, and strict readers then refuse the whole page; PostgreSQL cannot search for NUL. */
export function textProblem(value: string): string | undefined {
  if (!value.isWellFormed()) return 'is not valid Unicode';
  return value.includes('\0') ? 'must not contain a NUL character' : undefined;
}
