// Tells values that are already in the form in which they are printed, as almost all that is imported is. Their schema
// would let them through unchanged, only at three times the cost: it was a third of what an import spends on a row before
// it is written.

import type { z } from 'zod';

type Test = (value: unknown) => boolean;

const tests = new WeakMap<z.ZodType, Test>();

/** Notes which values a schema lets through unchanged; the test may miss some, but must never take a wrong one. */
export function withPrintedForm<Schema extends z.ZodType>(schema: Schema, test: Test): Schema {
  tests.set(schema, test);
  return schema;
}

/** A field that may be null, and is when it was left out. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  const test = testOf(schema);
  return withPrintedForm(schema.nullable().default(null as never), (value) => value === null || test(value));
}

/** A test for objects that have all these fields, each in its printed form, and no others. One field may be ignored. */
export function printedObject(shape: Record<string, z.ZodType>, ignored?: string): Test {
  const fields = Object.entries(shape)
    .filter(([name]) => name !== ignored)
    .map(([name, schema]) => ({ name, test: testOf(schema) }));
  return (value) => {
    if (typeof value !== 'object' || value === null) return false;
    let count = 0;
    for (const name in value) if (name !== ignored) count++;
    if (count !== fields.length) return false;
    const object = value as Record<string, unknown>;
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i];
      if (field !== undefined && !field.test(object[field.name])) return false;
    }
    return true;
  };
}

/** Without a test of its own, the schema itself is asked: right for any field, but slower. */
function testOf(schema: z.ZodType): Test {
  return (
    tests.get(schema) ??
    ((value) => {
      const result = schema.safeParse(value);
      return result.success && Bun.deepEquals(result.data, value);
    })
  );
}
