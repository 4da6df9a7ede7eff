// Fast path for imports: recognises values that are already in canonical form, as most imported values are. The schema would
// return them unchanged, but more slowly.

import type { z } from 'zod';

type Test = (value: unknown) => boolean;

const tests = new WeakMap<z.ZodType, Test>();

/** Registers a test for values that the schema returns unchanged. False negatives are allowed; false positives are not. */
export function withCanonicalForm<Schema extends z.ZodType>(schema: Schema, test: Test): Schema {
  tests.set(schema, test);
  return schema;
}

/** Makes a field nullable, with null as its default. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  const test = testOf(schema);
  return withCanonicalForm(
    schema.nullable().default(null as never),
    (value) => value === null || test(value),
  );
}

/** Returns a test for objects with all required fields, any optional fields and no others, each in canonical form. */
export function canonicalObject(
  required: Readonly<Record<string, z.ZodType>>,
  optional: Readonly<Record<string, z.ZodType>>,
): Test {
  const requiredTests = Object.entries(required).map(([name, schema]) => ({ name, test: testOf(schema) }));
  const optionalTests = new Map(Object.entries(optional).map(([name, schema]) => [name, testOf(schema)]));
  return (value) => {
    if (typeof value !== 'object' || value === null) return false;
    const object = value as Record<string, unknown>;
    let count = 0;
    for (const name in value) {
      const test = optionalTests.get(name);
      if (test === undefined) count++;
      else if (!test(object[name])) return false;
    }
    return count === requiredTests.length && requiredTests.every(({ name, test }) => test(object[name]));
  };
}

/** Falls back to the schema itself, which is correct for every field but slower. */
function testOf(schema: z.ZodType): Test {
  return (
    tests.get(schema) ??
    ((value) => {
      const result = schema.safeParse(value);
      return result.success && Bun.deepEquals(result.data, value);
    })
  );
}
