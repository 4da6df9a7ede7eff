// Validates clicks from a spool file, which may be damaged or contain clicks that were forged to claim sales.

import { DEAL_LISTS } from '@offerbook/wire/deals.ts';
import { PASSBACK_DATA_BYTES_MAX, PASSBACK_UID_BYTES_MAX, passbackProblem } from '@offerbook/wire/text.ts';
import { parseUuid } from '@offerbook/wire/uuid.ts';
import { CLICK_TIME_LENGTH, type Click } from '../domain/click.ts';
import type { ClickIds } from './click-id.ts';

const KINDS: readonly string[] = ['retailers', ...DEAL_LISTS];
/** Upper bound (exclusive) of the times that a click id can represent. */
const TIME_MAX_MS = 62 ** CLICK_TIME_LENGTH;

/** Returns what is wrong with a click; undefined if a server with this database could have recorded it. */
export function clickProblem(click: Click, clickIds: ClickIds): string | undefined {
  const { id, orgId, kind, dealId, retailerId, passbackUid, passbackData } = click;
  const origin = clickIds.parse(id);
  if (origin === undefined) return "its id was not created with this database's key";
  if (origin.orgId !== orgId) return 'its id belongs to another organisation';
  if (origin.atMs !== click.activatedAtMs) return 'its id has a different creation time';
  if (!KINDS.includes(kind)) return 'its kind is unknown';
  if ([dealId, retailerId].some((uuid) => parseUuid(uuid) !== uuid)) return 'its deal is not a UUID';
  if (click.clickedAtMs !== null && !(click.clickedAtMs >= 0 && click.clickedAtMs < TIME_MAX_MS))
    return 'its link was followed at an impossible time';
  const uidProblem = passbackProblem(passbackUid ?? '', PASSBACK_UID_BYTES_MAX);
  if (uidProblem !== undefined) return `its passbackUid ${uidProblem}`;
  const dataProblem = passbackProblem(passbackData ?? '', PASSBACK_DATA_BYTES_MAX);
  return dataProblem && `its passbackData ${dataProblem}`;
}
