// Where every list begins.

import type { Uuid } from '../domain/uuid.ts';

/** Sorts before every other id, so that "from this one on" starts at the beginning. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000' as Uuid;
