// Checks a click that comes from a file beside the database: a spool may be damaged, or hold clicks that somebody forged to
// claim sales. One such row must neither become a click nor keep the others out of the database.

import { DEAL_LISTS } from '@offerbook/wire/deals.ts';
import { parseUuid } from '@offerbook/wire/uuid.ts';
import {
  CLICK_TIME_LENGTH,
  type Click,
  PASSBACK_DATA_BYTES_MAX,
  PASSBACK_UID_BYTES_MAX,
  passbackProblem,
} from '../domain/click.ts';
import type { ClickIds } from './click-id.ts';

const KINDS: readonly string[] = ['retailers', ...DEAL_LISTS];
/** Ids of clicks cannot hold later times. */
const TIME_MAX_MS = 62 ** CLICK_TIME_LENGTH;

/** What is wrong with a click; undefined if this database's servers can have recorded it. */
export function clickProblem(click: Click, clickIds: ClickIds): string | undefined {
  const { id, orgId, kind, dealId, retailerId, passbackUid, passbackData } = click;
  const origin = clickIds.parse(id);
  if (origin === undefined) return 'its id was not made with the key of this database';
  if (origin.orgId !== orgId) return 'its id was made for another organisation';
  if (origin.atMs !== click.activatedAtMs) return 'its id was made at another time';
  if (!KINDS.includes(kind)) return 'its kind is unknown';
  if ([dealId, retailerId].some((uuid) => parseUuid(uuid) !== uuid)) return 'its deal is not a UUID';
  if (click.clickedAtMs !== null && !(click.clickedAtMs >= 0 && click.clickedAtMs < TIME_MAX_MS))
    return 'its link was followed at an impossible time';
  const uidProblem = passbackProblem(passbackUid ?? '', PASSBACK_UID_BYTES_MAX);
  if (uidProblem !== undefined) return `its passbackUid ${uidProblem}`;
  const dataProblem = passbackProblem(passbackData ?? '', PASSBACK_DATA_BYTES_MAX);
  return dataProblem && `its passbackData ${dataProblem}`;
}
