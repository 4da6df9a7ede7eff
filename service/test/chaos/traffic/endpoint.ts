// An endpoint of webhooks that fails in every way, and asks for a replay if it has lost a page.

import type { Random } from '@offerbook/sandbox/random.ts';
import { type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { NO_WATERMARK_MS } from '../../../src/domain/webhook.ts';
import { type Behaviour, Receiver } from '../../webhooks/receiver.ts';
import type { Run } from '../report/run.ts';
import { TIMEOUT_MS } from './sender-process.ts';

const FAULT_SHARE = 0.3;

export type Endpoint = Awaited<ReturnType<typeof newEndpoint>>;

/** The faults that store nothing, and what the sender sees. `hang` takes almost the time limit of a request. */
const REFUSALS = { error: 500, redirect: 307, close: 'close', hang: 'close' } as const;
const FAULTS = ['error', 'hang', 'redirect', 'close', 'cut', 'slow', 'forget', 'lost response'] as const;

export async function newEndpoint(run: Run, stores: Stores, orgId: number, random: Random) {
  const replays: Promise<unknown>[] = [];
  let faultShare = FAULT_SHARE;
  /** The endpoint has stored every change up to this one. */
  let throughMs = NO_WATERMARK_MS;
  let fault: (typeof FAULTS)[number] | undefined;
  const behaviour: Behaviour = async ({ page }) => {
    const current = fault;
    if (current === 'hang') await Bun.sleep(TIMEOUT_MS - 50);
    if (current === 'slow') await Bun.sleep(TIMEOUT_MS / 3);
    if (current !== undefined && current in REFUSALS)
      return { status: REFUSALS[current as keyof typeof REFUSALS], stores: false };
    if (current === 'forget') {
      // The endpoint responds before it stores the page, and crashes. It asks the operator for a replay.
      run.count('replays');
      // The page may have begun inside a stamp. A replay from a millisecond earlier cannot be mistaken for the next page.
      throughMs = Math.max(NO_WATERMARK_MS, throughMs - 1);
      replays.push(stores.webhooks.replay(id, random.unit() < 0.1 ? NO_WATERMARK_MS : throughMs));
      return { status: 200, stores: false };
    }
    // After a forgotten page, the following pages may arrive before the replay. They leave a gap.
    if (watermarkMs(page.after) <= throughMs) throughMs = watermarkMs(page.completeThrough);
    return { status: current === 'lost response' ? 'close' : 204, stores: true };
  };
  const receiver = run.use(new Receiver(behaviour));
  // Called at the beginning of each request.
  receiver.isCut = () => {
    fault = random.unit() < faultShare ? random.pick(FAULTS) : undefined;
    run.count(`requests: ${fault ?? 'good'}`);
    if (fault !== undefined) run.count('faults of endpoints');
    return fault === 'cut';
  };
  const { id } = await stores.webhooks.create(orgId, receiver.url, NO_WATERMARK_MS);
  return {
    ...{ orgId, receiver },
    /** Ends the faults. */
    async end() {
      faultShare = 0;
      await Promise.all(replays);
    },
  };
}

function watermarkMs(watermark: Timestamp | null): number {
  return watermark === null ? NO_WATERMARK_MS : timestampMs(watermark);
}
