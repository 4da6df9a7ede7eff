// Fast path for imports: recognises values and rows that are already in canonical form, as most imported rows are. The schema
// would return them unchanged, but more slowly.

import type { z } from 'zod';

type Test = (value: unknown) => boolean;

interface CanonicalForm {
  /** True only for values that the schema returns unchanged. False negatives are allowed; false positives are not. */
  readonly test: Test;
  /** Pattern of such values in JSON, as printJson writes them. Its only group is the value, without quotes. */
  readonly json: string;
}

const forms = new WeakMap<z.ZodType, CanonicalForm>();

/** `json` is needed only for the fields of transactions. */
export function withCanonicalForm<Schema extends z.ZodType>(
  schema: Schema,
  { test, json = NEVER }: Partial<CanonicalForm> & { readonly test: Test },
): Schema {
  forms.set(schema, { test, json });
  return schema;
}

/** Strings that match the pattern, which starts with ^ and ends with $ and has no groups. */
export function canonicalText(pattern: RegExp): CanonicalForm {
  return {
    test: (value) => typeof value === 'string' && pattern.test(value),
    json: `"(${pattern.source.slice(1, -1)})"`,
  };
}

/** Makes a field nullable, with null as its default. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  const { test, json } = canonicalFormOf(schema);
  return withCanonicalForm(schema.nullable().default(null as never), {
    test: (value) => value === null || test(value),
    json: `(?:null|${json})`,
  });
}

/** Returns a test for lists of items in canonical form. */
export function canonicalList(item: z.ZodType, itemsMax: number): Test {
  const { test } = canonicalFormOf(item);
  return (value) => Array.isArray(value) && value.length <= itemsMax && value.every(test);
}

/**
 * Returns a function for objects with exactly these fields, each in canonical form. It returns a copy with the fields in this
 * order, as the schema would, or undefined for any other value.
 */
export function canonicalCopy(
  fields: Readonly<Record<string, z.ZodType>>,
): (value: unknown) => Record<string, unknown> | undefined {
  const isCanonical = canonicalObject(fields);
  const names = Object.keys(fields);
  return (value) => {
    if (!isCanonical(value)) return undefined;
    const copy: Record<string, unknown> = {};
    for (const name of names) copy[name] = (value as Record<string, unknown>)[name];
    return copy;
  };
}

/** Returns a test for objects with all required fields, any optional fields and no others, each in canonical form. */
export function canonicalObject(
  required: Readonly<Record<string, z.ZodType>>,
  optional: Readonly<Record<string, z.ZodType>> = {},
): Test {
  const testOf = (schema: z.ZodType) => canonicalFormOf(schema).test;
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

/** Without a registered form, falls back to the schema itself, which is correct for every field but slower. */
export function canonicalFormOf(schema: z.ZodType): CanonicalForm {
  const test = (value: unknown) => {
    const result = schema.safeParse(value);
    return result.success && Bun.deepEquals(result.data, value);
  };
  return forms.get(schema) ?? { test, json: NEVER };
}

/** Matches nothing. */
const NEVER = '(?!)()';
