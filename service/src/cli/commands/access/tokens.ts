// offerbook tokens: issues, lists, revokes, rotates and verifies access tokens. A token is printed only once, when it is
// issued. Tokens are never passed as arguments.

import { BadInput } from '@offerbook/wire/failures.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { type Command, Option } from 'commander';
import {
  type AccessToken,
  digestToken,
  endMs,
  isLive,
  newTokenText,
  parseTokenKind,
  TOKEN_KINDS,
  type TokenKind,
  tokenState,
} from '../../../domain/access-token.ts';
import { systemClock } from '../../../domain/clock.ts';
import { sqlitePath } from '../../../storage/open-database.ts';
import { withReserve } from '../../../storage/sqlite/revocation-reserve.ts';
import { group, jsonCommand, openForReading, openForWriting, type StoreOptions } from '../../command.ts';
import { notFound, parseDurationMs, parseId, parsePositiveDurationMs } from '../../option-values.ts';
import { printNote, printResult, printTime, table } from '../../output.ts';
import { getOrganisation } from './organisations.ts';

const LABEL_LENGTH_MAX = 200;

export function tokensCommand(): Command {
  const issue = jsonCommand(
    'issue',
    'issue a token and print it once',
    'offerbook tokens issue --org acme --kind public',
  )
    .requiredOption('--org <name>', 'organisation of the token')
    .addOption(
      new Option('--kind <kind>', 'public for the catalogue, private for transactions')
        .choices(TOKEN_KINDS)
        .makeOptionMandatory(),
    )
    .option('--label <text>', 'note to show in tokens list')
    .option('--expires <duration>', 'lifetime, such as 90d (default: unlimited)')
    .action(issueToken);
  const list = jsonCommand('list', 'list all tokens', 'offerbook tokens list').action(listTokens);
  const revoke = jsonCommand(
    'revoke',
    'revoke a token immediately',
    'offerbook tokens revoke 0192d1a0-0000-7000-8000-000000000001',
  )
    .argument('<id>', 'id from offerbook tokens list, not the token itself')
    .action(revokeToken);
  const rotate = jsonCommand(
    'rotate',
    'replace a token; both tokens are valid during the overlap',
    'offerbook tokens rotate 0192d1a0-0000-7000-8000-000000000001 --overlap 24h',
  )
    .argument('<id>', 'id from offerbook tokens list, not the token itself')
    .option('--overlap <duration>', 'time until the old token is revoked', '24h')
    .action(rotateToken);
  const verify = jsonCommand(
    'verify',
    'check the token on stdin',
    'offerbook tokens verify < token.txt',
  ).action(verifyToken);
  const commands = [issue, list, revoke, rotate, verify];
  return group('tokens', 'issue, list, rotate and revoke access tokens', commands);
}

async function issueToken(
  options: StoreOptions & { org: string; kind: TokenKind; label?: string; expires?: string },
): Promise<void> {
  const { kind, label = '' } = options;
  if (label.length > LABEL_LENGTH_MAX)
    throw new BadInput(`--label must be at most ${LABEL_LENGTH_MAX} characters`);
  const expiresAtMs =
    options.expires === undefined
      ? null
      : systemClock() + parsePositiveDurationMs('--expires', options.expires);
  await using stores = await openForWriting(options);
  const org = await getOrganisation(stores, options.org, 'to write');
  const text = newTokenText(kind);
  const token = await stores.tokens.add({
    orgId: org.id,
    kind,
    label,
    digest: digestToken(text),
    expiresAtMs,
  });
  await printNewToken(options, token, text);
}

async function listTokens(options: StoreOptions): Promise<void> {
  await using stores = await openForReading(options);
  const nowMs = systemClock();
  const { tokens } = await stores.tokens.list();
  const rows = tokens.map((token) => ({
    ID: token.id,
    ORG: token.orgName,
    KIND: token.kind,
    STATE: tokenState(token, nowMs),
    'LAST USED': printTime(token.lastUsedAtMs) ?? 'never',
    ENDS: printTime(endMs(token)) ?? 'never',
    LABEL: token.label,
  }));
  const json = tokens.map((token) => toJson(token, nowMs));
  await printResult(options, json, table(rows, 'No tokens.'));
}

async function revokeToken(idText: string, options: StoreOptions): Promise<void> {
  const id = parseId(idText, 'token');
  const path = sqlitePath(options.database);
  const revoke = async () => {
    await using stores = await openForWriting(options);
    return await stores.tokens.revoke(id);
  };
  const ended = await (path === undefined ? revoke() : withReserve(path, revoke));
  if (ended === undefined) throw notFound(id, 'token');
  const text = `Revoked the ${ended.kind} token ${id} of "${ended.orgName}".`;
  await printResult(options, toJson(ended, systemClock()), text);
}

async function rotateToken(idText: string, options: StoreOptions & { overlap: string }): Promise<void> {
  const id = parseId(idText, 'token');
  const overlapMs = parseDurationMs('--overlap', options.overlap);
  await using stores = await openForWriting(options);
  let text = '';
  const rotated = await stores.tokens.rotate(id, (old) => {
    const nowMs = systemClock();
    if (!isLive(old, nowMs))
      throw new BadInput(`token ${id} is ${tokenState(old, nowMs)}; issue a new one instead`);
    text = newTokenText(old.kind);
    const { orgId, kind, label } = old;
    // The successor gets the same lifetime as its predecessor.
    const expiresAtMs = old.expiresAtMs === null ? null : nowMs + (old.expiresAtMs - old.createdAtMs);
    const successor = { orgId, kind, label, digest: digestToken(text), expiresAtMs };
    return { successor, overlapEndsAtMs: overlapMs === 0 ? null : nowMs + overlapMs };
  });
  if (rotated === undefined) throw notFound(id, 'token');
  await printNewToken(options, rotated.successor, text, rotated.replaced);
}

async function verifyToken(options: StoreOptions): Promise<void> {
  const text = (await new Response(Bun.stdin.stream()).text()).trim();
  if (text === '') throw new BadInput('no token on stdin');
  if (parseTokenKind(text) === undefined)
    throw new BadInput('stdin is not a token: its format or its checksum is wrong');
  await using stores = await openForReading(options);
  const nowMs = systemClock();
  const digest = digestToken(text);
  const token = (await stores.tokens.list()).tokens.find((known) => known.digest === digest);
  if (token === undefined) throw new BadInput('the token is well-formed, but is not in this database');
  if (!isLive(token, nowMs)) throw new BadInput(`the token is ${tokenState(token, nowMs)} (id ${token.id})`);
  const valid = `Valid: a ${token.kind} token of "${token.orgName}" (id ${token.id}).`;
  await printResult(options, toJson(token, nowMs), valid);
}

async function printNewToken(
  options: StoreOptions,
  token: AccessToken,
  text: string,
  replaced?: AccessToken,
): Promise<void> {
  const value = {
    id: token.id,
    token: text,
    kind: token.kind,
    org: token.orgName,
    expiresAt: printTime(token.expiresAtMs),
    ...(replaced === undefined ? {} : { replaces: replaced.id, replacedEndsAt: printTime(endMs(replaced)) }),
  };
  if (options.json !== true) {
    printNote(
      `Issued a ${token.kind} token for "${token.orgName}" (id ${token.id}). It is printed only once; store it safely.`,
    );
    if (replaced !== undefined) printNote(`The old token is valid until ${printTime(endMs(replaced))}.`);
  }
  await printResult(options, value, text);
}

function toJson(token: AccessToken, nowMs: number) {
  return {
    id: token.id,
    org: token.orgName,
    kind: token.kind,
    label: token.label,
    state: tokenState(token, nowMs),
    createdAt: printTimestamp(token.createdAtMs),
    expiresAt: printTime(token.expiresAtMs),
    revokedAt: printTime(token.revokedAtMs ?? token.overlapEndsAtMs),
    lastUsedAt: printTime(token.lastUsedAtMs),
  };
}
