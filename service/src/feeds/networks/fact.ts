// A word, a field or a rule of a network that may turn out to be other than it was found, and how sure it is. They stand in
// one table for each network, so that a correction touches no code.

/** A: from the network's own document or schema. B: from programs that work with it. C: second-hand, or never tried. */
export type Grade = 'A' | 'B' | 'C';

export interface Fact<Value> {
  readonly grade: Grade;
  readonly value: Value;
}

export function fact<const Value>(grade: Grade, value: Value): Fact<Value> {
  return { grade, value };
}
