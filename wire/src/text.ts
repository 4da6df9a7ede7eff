// Rules for valid strings. Separate from the schemas, so that threads that never run an import do not load them.

/** 1,000 transactions with two strings of this length fit into one database value, even if every character is escaped. */
export const TEXT_LENGTH_MAX = 65_536;

/** Strict JSON parsers reject a whole page with a lone surrogate, and PostgreSQL parameters cannot contain NUL. */
export function textProblem(value: string): string | undefined {
  if (!value.isWellFormed()) return 'is not valid Unicode';
  return value.includes('\0') ? 'must not contain a NUL character' : undefined;
}
