// The world in which the nemesis plays: its organisations and the ids that their transactions may have. The
// same in every process, so that a driver and its importers need not tell each other.

import type { Uuid } from '@offerbook/wire/uuid.ts';

export const ORGANISATIONS = ['amber', 'birch', 'cedar', 'dogwood'] as const;
export type OrganisationName = (typeof ORGANISATIONS)[number];
/** Its only poller is one that keeps the greatest stamp: others that ask for the same windows would spoil it for that one. */
export const LONER: OrganisationName = 'dogwood';

/** Every organisation has users with these ids. */
export const USERS = ['anna', 'bert', 'cleo'] as const;

const IDS_EACH = 800;
/** The first ids of an organisation are never deleted: other organisations try to take them. */
const KEPT_IDS = 30;

const pools = new Map<OrganisationName, readonly Uuid[]>();

/** The ids of an organisation, in order. Those of the organisations lie between one another. */
export function idsOf(organisation: OrganisationName): readonly Uuid[] {
  const known = pools.get(organisation);
  if (known !== undefined) return known;
  const pool = Array.from({ length: IDS_EACH }, (_, i) => makeId(organisation, i)).sort();
  pools.set(organisation, pool);
  return pool;
}

export function keptIdsOf(organisation: OrganisationName): readonly Uuid[] {
  return idsOf(organisation).slice(0, KEPT_IDS);
}

/** Every other one as random as version 4, the rest in the order of their making, as version 7. */
function makeId(organisation: OrganisationName, i: number): Uuid {
  const hex = new Bun.CryptoHasher('md5').update(`${organisation}/${i}`).digest('hex');
  const random = i % 2 === 0;
  const head = random ? hex.slice(0, 12) : (0x0192_d1a0_0000 + i).toString(16).padStart(12, '0');
  return [
    head.slice(0, 8),
    head.slice(8),
    `${random ? 4 : 7}${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-') as Uuid;
}
