// Rules for valid strings. Separate from the schemas, which threads that only read need not load.

/** 1,000 transactions with two strings of this length, all characters escaped, still fit into one database value. */
export const TEXT_LENGTH_MAX = 65_536;

/** Strict JSON parsers reject a whole page with a lone surrogate, and PostgreSQL parameters cannot contain NUL. */
export function textProblem(value: string): string | undefined {
  if (!value.isWellFormed()) return 'is not valid Unicode';
  return value.includes('\0') ? 'must not contain a NUL character' : undefined;
}
