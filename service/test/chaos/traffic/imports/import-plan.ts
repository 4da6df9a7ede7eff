// Chooses an importer's next import at random. All choices are likely to cause problems.

import type { Random } from '@offerbook/sandbox/random.ts';
import { ORGANISATIONS, type OrganisationName } from '../../model/world.ts';
import type { ImportOrder, ImportPart } from './import-order.ts';

const HOUR_MS = 3_600_000;

/** Most imports change one organisation; some contain sales of several, assigned by click. */
export function chooseOrganisations(random: Random): OrganisationName[] {
  const count = random.chance(0.2) ? random.whole(2, ORGANISATIONS.length) : 1;
  return random.shuffled(ORGANISATIONS).slice(0, count);
}

export function planImport(parts: readonly ImportPart[], random: Random): ImportOrder {
  return {
    parts,
    // Most files are small; some are larger than a batch, so that rows are written before the end of the file is read.
    rows: random.chance(0.1) ? random.whole(500, 800) : Math.round(random.logBetween(1, 100)),
    ending: random.pick(['good', 'good', 'good', 'good', 'good', 'good', 'bad row', 'foreign id'] as const),
    clockOffsetMs: random.whole(-HOUR_MS, HOUR_MS),
    pauseMs: random.chance(0.3) ? Math.round(random.logBetween(5, 500)) : 0,
    seed: random.whole(0, 2 ** 31),
  };
}
