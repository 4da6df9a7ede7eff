// The organisations and the ids of their transactions. They are the same in every process, so the driver and its importers need
// not exchange them.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Organisation } from '../../../src/domain/organisation.ts';
import type { Stores } from '../../../src/domain/stores.ts';

export const ORGANISATIONS = ['amber', 'birch', 'cedar', 'dogwood'] as const;
export type OrganisationName = (typeof ORGANISATIONS)[number];
/** Its only poller is the greatestStampPoller, which loses changes if another poller walks through the same windows. */
export const LONER: OrganisationName = 'dogwood';

/** Every organisation has users with these ids. */
export const USERS = ['anna', 'bert', 'cleo'] as const;

const IDS_EACH = 800;

const pools = new Map(
  ORGANISATIONS.map((name) => [name, Array.from({ length: IDS_EACH }, (_, i) => makeId(name, i)).sort()]),
);

/** The ids of an organisation, sorted. The ids of all organisations are interleaved. */
export function idsOf(organisation: OrganisationName): readonly Uuid[] {
  return pools.get(organisation) ?? [];
}

/** Every other id is random. The others increase with `i`, like version 7. */
function makeId(organisation: OrganisationName, i: number): Uuid {
  const random = Bun.randomUUIDv5(`${organisation}/${i}`, 'oid');
  if (i % 2 === 0) return random as Uuid;
  const time = (0x0192_d1a0_0000 + i).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}` as Uuid;
}

export async function getOrganisation(stores: Stores, name: string): Promise<Organisation> {
  const organisation = await stores.organisations.find(name);
  if (organisation === undefined) throw new Error(`there is no organisation ${name}`);
  return organisation;
}
