// The ids of a run in one text, so that a statement that reads several runs has one row for each.

import type { Uuid } from '../../domain/uuid.ts';

export const JOIN_IDS = { sqlite: 'group_concat(id)', postgres: `string_agg(id::text, ',')` };

/** Null when there were none to join. */
export function splitIds(text: string | null): Uuid[] {
  return text === null ? [] : (text.split(',') as Uuid[]);
}
