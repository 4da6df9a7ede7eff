// The names of the fields that a schema describes.

import { z } from 'zod';

/** The fields of an object, and of objects in lists that it holds. */
export function fieldNames(schema: z.ZodType): readonly string[] {
  if (schema instanceof z.ZodArray) return fieldNames(schema.element as z.ZodType);
  if (!(schema instanceof z.ZodObject)) return [];
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
  return fields.flatMap(([name, field]) => [name, ...fieldNames(field)]);
}
