// Lists the field names of a schema.

import { z } from 'zod';

/** Returns the field names of an object, including those of nested objects and lists of objects. */
export function fieldNames(schema: z.ZodType): readonly string[] {
  if (schema instanceof z.ZodArray) return fieldNames(schema.element as z.ZodType);
  if (!(schema instanceof z.ZodObject)) return [];
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
  return fields.flatMap(([name, field]) => [name, ...fieldNames(field)]);
}
