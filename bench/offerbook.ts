// Starts Offerbook as in production, with its log on. Rate limits are counted, but too high to reject a request.

import { join } from 'node:path';
import { digestToken, newTokenText } from '../service/src/domain/access-token.ts';
import type { Stores } from '../service/src/domain/stores.ts';
import { COMMAND } from '../service/test/support/command.ts';
import { Server } from './server.ts';

const NO_LIMIT = '1000000000';

interface StartOptions {
  readonly args?: readonly string[];
  readonly cores?: string;
  readonly env?: Record<string, string>;
}

export async function startOfferbook(
  folder: string,
  databaseUrl: string,
  { args = [], cores, env }: StartOptions = {},
): Promise<Server> {
  return Server.start({
    command: (port) => [
      ...[COMMAND, 'serve', '--port', String(port), '--database', databaseUrl],
      ...['--rate-limit-public', NO_LIMIT, '--rate-limit-private', NO_LIMIT, ...args],
    ],
    readyPath: '/readyz',
    log: join(folder, 'offerbook.log'),
    ...(cores === undefined ? {} : { cores }),
    ...(env === undefined ? {} : { env }),
  });
}

export async function issueTokens(
  stores: Stores,
  orgId: number,
): Promise<{ public: string; private: string }> {
  const tokens = { public: newTokenText('public'), private: newTokenText('private') };
  for (const kind of ['public', 'private'] as const) {
    const digest = digestToken(tokens[kind]);
    await stores.tokens.add({ orgId, kind, label: 'bench', digest, expiresAtMs: null });
  }
  return tokens;
}

export function bearer(token: string, more: Record<string, string> = {}): Record<string, string> {
  return { Authorization: `Bearer ${token}`, ...more };
}
