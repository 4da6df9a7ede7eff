// Where every list begins, and where it can end at the latest.

import type { Uuid } from '../../domain/uuid.ts';

/** Sorts before every other id, so that "from this one on" starts at the beginning. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000' as Uuid;
/** Sorts after every other id. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as Uuid;
