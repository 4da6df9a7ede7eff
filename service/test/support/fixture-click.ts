// A click with default values, which a test overrides where they matter.

import { ClickIds } from '../../src/activation/click-id.ts';
import type { Click } from '../../src/domain/click.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { id } from './fixtures.ts';

export async function recordClick(stores: Stores, orgId: number, with_: Partial<Click> = {}): Promise<Click> {
  const activatedAtMs = with_.activatedAtMs ?? Date.UTC(2026, 10, 14, 11);
  const click: Click = {
    id: new ClickIds(await stores.clickKey()).make(orgId, activatedAtMs),
    orgId,
    kind: 'coupons',
    dealId: id(21),
    retailerId: id(1),
    passbackUid: 'user-1',
    passbackData: null,
    activatedAtMs,
    clickedAtMs: activatedAtMs,
    isTracked: true,
    ...with_,
  };
  await stores.clicks.put([click]);
  return click;
}
