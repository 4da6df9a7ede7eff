// Checks that there is a valid access token, and warns about tokens that expire soon. Pure function.

import { printCountOf } from '@offerbook/wire/count.ts';
import { type AccessToken, isExpiring, isLive } from '../../domain/access-token.ts';
import { type Check, ok, warning } from './check.ts';

export function judgeTokens(tokens: readonly AccessToken[], nowMs: number): Check {
  const live = tokens.filter((token) => isLive(token, nowMs));
  if (live.length === 0) {
    return warning(
      'tokens',
      'no valid token: all API requests are rejected',
      'issue one with: offerbook tokens issue --org NAME --kind KIND',
    );
  }
  const expiring = live.filter((token) => isExpiring(token, nowMs));
  if (expiring.length > 0) {
    const ids = expiring.map(({ id, orgName }) => `${id} of "${orgName}"`).join(', ');
    return warning(
      'tokens',
      `${printCountOf(expiring.length, 'token')} will expire within 14 days: ${ids}`,
      'rotate with: offerbook tokens rotate ID',
    );
  }
  return ok('tokens', `${printCountOf(live.length, 'valid token')}; none expires within 14 days`);
}
