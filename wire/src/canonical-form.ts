// Fast path for imports: recognises values that are already in their printed form, as most imported values are. Their
// schema would return them unchanged, only more slowly.

import type { z } from 'zod';

type Test = (value: unknown) => boolean;

const tests = new WeakMap<z.ZodType, Test>();

/** Registers a test for values that the schema returns unchanged. It may have false negatives, never false positives. */
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

export interface PrintedObjectOptions {
  /** A field that may have any value, or none. */
  readonly ignored?: string | undefined;
  /** A field that may be missing, and has its printed form otherwise. */
  readonly optional?: { readonly name: string; readonly schema: z.ZodType } | undefined;
}

/** Returns a test for objects with exactly these fields, each in its printed form. */
export function printedObject(
  shape: Record<string, z.ZodType>,
  { ignored, optional }: PrintedObjectOptions = {},
): Test {
  const fields = Object.entries(shape)
    .filter(([name]) => name !== ignored)
    .map(([name, schema]) => ({ name, test: testOf(schema) }));
  const optionalName = optional?.name;
  const isOptionalPrinted = optional === undefined ? () => false : testOf(optional.schema);
  return (value) => {
    if (typeof value !== 'object' || value === null) return false;
    const object = value as Record<string, unknown>;
    let count = 0;
    for (const name in value) {
      if (name === ignored) continue;
      if (name !== optionalName) count++;
      else if (!isOptionalPrinted(object[name])) return false;
    }
    if (count !== fields.length) return false;
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i];
      if (field !== undefined && !field.test(object[field.name])) return false;
    }
    return true;
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
