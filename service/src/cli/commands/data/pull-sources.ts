// Reads the sources of `pull` and `doctor`: source files with their overlays and secrets.

import { openCataloguePull, openSalePull } from '@offerbook/feeds/networks.ts';
import type { Source } from '@offerbook/feeds/source/source-file.ts';
import type { CouponCodes } from '@offerbook/feeds/transactions/coupon-codes.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { MINUTE_MS } from '@offerbook/wire/time.ts';
import { isLoopback, readSecretVariable } from '../../../config.ts';
import { checkSource } from '../../../pull/check-source.ts';
import { type PullableSource, type RequestContext, sourceName } from '../../../pull/network-client.ts';
import { RequestFailed } from '../../../pull/network-failures.ts';
import { readSecrets } from '../../../pull/read-secrets.ts';
import { readSourceFile } from './source-files.ts';

/** A larger difference could make a pull skip recent changes. */
const CLOCK_LEAD_MAX_MS = MINUTE_MS;

export interface NamedSource extends PullableSource {
  /** Network and account, such as `awin:77777`. */
  readonly name: string;
  readonly path: string;
}

interface SourceOptions {
  /** True if credentials may be sent to a baseUrl that is not on this machine. */
  readonly allowOtherHost?: boolean | undefined;
  readonly coupons?: CouponCodes | undefined;
}

export async function readPullSource(
  path: string,
  { allowOtherHost = false, coupons }: SourceOptions,
): Promise<NamedSource> {
  const { source, overlay } = await readSourceFile(path);
  const pull = openSalePull(source);
  if (pull === undefined)
    throw new BadInput(`${path}: a source of the network "table" cannot be pulled; use offerbook convert`);
  if (!allowOtherHost) requireLoopback(source, path);
  const secrets = readSecrets(source, path, readSecretVariable);
  const catalogue = openCataloguePull(source);
  return { name: sourceName(source), path, source, overlay, pull, catalogue, secrets, coupons };
}

/** Credentials are sent to the baseUrl, so a different host must be allowed explicitly. */
function requireLoopback(source: Source, path: string): void {
  const baseUrl = 'baseUrl' in source ? source.baseUrl : undefined;
  if (baseUrl === undefined || isLoopback(new URL(baseUrl).hostname)) return;
  throw new BadInput(
    `${path}: baseUrl is not on this machine, and pull would send the credentials there; add --allow-other-host to allow that`,
  );
}

/** Sends one request. Returns what is wrong with the credentials, the network or the clock; undefined if nothing is. */
export async function findSourceProblem(
  source: PullableSource,
  context: RequestContext,
): Promise<string | undefined> {
  try {
    const leadMs = (await checkSource(source, context)) ?? 0;
    if (Math.abs(leadMs) <= CLOCK_LEAD_MAX_MS) return undefined;
    const seconds = Math.round(Math.abs(leadMs) / 1_000);
    return `this machine's clock is ${seconds} s ${leadMs > 0 ? 'ahead of' : 'behind'} the network's; synchronise it`;
  } catch (error) {
    if (error instanceof RequestFailed) return error.message;
    throw error;
  }
}
