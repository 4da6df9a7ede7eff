// Fast paths for imports. Most lines with transactions (canonical-row.ts) and most deals are already in canonical form, so the
// schema would return them unchanged, but more slowly. They are recognised by the canonical forms of their fields.

import type { z } from 'zod';
import { isObject } from './rows/raw-row.ts';

type Test = (value: unknown) => boolean;

interface CanonicalForm {
  /** True only for values that the schema returns unchanged. False negatives are allowed; false positives are not. */
  readonly test: Test;
  /** Pattern of such values in JSON, as printJson writes them. Its only group is the value, without quotes. */
  readonly json: string;
}

const forms = new WeakMap<z.ZodType, CanonicalForm>();

/** `test` is needed only for the fields of deals, and `json` only for those of transactions. */
export function withCanonicalForm<Schema extends z.ZodType>(
  schema: Schema,
  { test = () => false, json = NEVER }: Partial<CanonicalForm>,
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
  const tests = Object.entries(fields).map(([name, schema]) => [name, canonicalFormOf(schema).test] as const);
  return (value) => {
    if (!isObject(value) || Object.keys(value).length !== tests.length) return undefined;
    const copy: Record<string, unknown> = {};
    for (const [name, test] of tests) {
      if (!test(value[name])) return undefined;
      copy[name] = value[name];
    }
    return copy;
  };
}

/** A field without a form is never canonical. */
export function canonicalFormOf(schema: z.ZodType): CanonicalForm {
  return forms.get(schema) ?? { test: () => false, json: NEVER };
}

/** Matches nothing. */
const NEVER = '(?!)()';
