// Runs all checks of `offerbook doctor` with the settings of `serve`. The checks are read-only. Checks that need the database
// are skipped if it is unreachable.

import { dirname } from 'node:path';
import { printCountOf } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { databaseName } from '../../activation/activation-directory.ts';
import type { ServeSettings } from '../../config.ts';
import type { Clock } from '../../domain/clock.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import { countSpooled, type DatabaseFacts, inspectDatabase } from '../../storage/inspect-database.ts';
import { sqlitePath } from '../../storage/open-database.ts';
import { spoolPath, spoolProblem } from '../node/activation.ts';
import { storageMessage } from '../storage-failure.ts';
import { type Check, fault, ok, warning } from './check.ts';
import { checkDisk, checkOpenFiles, checkPort } from './check-machine.ts';
import { type CheckedSources, checkSources } from './check-sources.ts';
import { judgeDatabase } from './judge-database.ts';
import { judgeImports, judgeWriteLock } from './judge-imports.ts';
import { judgeProxies } from './judge-proxies.ts';
import { judgePulls } from './judge-pulls.ts';
import { judgeTokens } from './judge-tokens.ts';
import { judgeWebhooks } from './judge-webhooks.ts';
import { livenessProblem } from './liveness-problem.ts';

interface Examination {
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  /** Maximum age of the last successful import. */
  readonly importAgeMaxMs: number;
  readonly sources?: CheckedSources;
  readonly clock: Clock;
}

export async function examine(examination: Examination): Promise<Check[]> {
  const { settings, databaseUrl, importAgeMaxMs, clock, sources } = examination;
  const facts = await findFacts(databaseUrl, clock);
  const nowMs = clock();
  const checks: Check[] = [];
  if ('state' in facts) checks.push(facts);
  else {
    checks.push(...judgeDatabase(facts, nowMs));
    if (facts.contents !== undefined) {
      checks.push(...judgeImports(facts.contents.feeds, nowMs, importAgeMaxMs));
      checks.push(judgeWriteLock(facts.contents.writeLock, nowMs));
      checks.push(judgeTokens(facts.contents.tokens, nowMs));
      checks.push(...judgeWebhooks(facts.contents.webhooks, nowMs));
      checks.push(...judgePulls(facts.contents.pulls, nowMs));
    }
  }
  if (sources !== undefined) checks.push(...(await checkSources(sources, clock)));
  checks.push(...(await examineReplica(settings.replicaUrl, clock)));
  checks.push(...(await examineMachine(examination, 'state' in facts ? undefined : facts)));
  checks.push(judgeProxies(settings));
  if (settings.publicUrl !== undefined) checks.push(await examinePublicUrl(settings.publicUrl));
  return checks;
}

/** Returns the facts about a database, or a fault if they cannot be read. */
async function findFacts(
  url: string,
  clock: Clock,
  role: 'primary' | 'standby' = 'primary',
): Promise<DatabaseFacts | Check> {
  try {
    return await inspectDatabase(url, clock, role);
  } catch (error) {
    return fault('database', messageOf(error), 'fix this first: serve does not start without its database');
  }
}

/** Rethrows unexpected errors. */
function messageOf(error: unknown): string {
  if (isStorageError(error)) return storageMessage(error);
  if (error instanceof BadInput) return error.message;
  throw error;
}

async function examineReplica(url: string | undefined, clock: Clock): Promise<Check[]> {
  if (url === undefined) return [];
  const facts = await findFacts(url, clock, 'standby');
  const advice = 'until it is usable, transactions are read from the primary';
  if ('state' in facts) return [warning('replica', facts.found, advice)];
  if (facts.postgres?.isReadOnly === true) return [ok('replica', facts.place)];
  return [
    warning(
      'replica',
      `${facts.place} is not a standby: it accepts writes`,
      'set --replica-url to a standby',
    ),
  ];
}

async function examineMachine(
  { settings, databaseUrl }: Examination,
  facts: DatabaseFacts | undefined,
): Promise<Check[]> {
  const path = sqlitePath(databaseUrl);
  const bytes = facts?.files.reduce((sum, file) => sum + file.bytes, 0) ?? 0;
  const { host, port, adminHost, adminPort } = settings;
  const reserveMegabytes = settings.activation === 'on' ? settings.diskReserve : 0;
  return [
    ...(path === undefined
      ? []
      : [checkDisk('disk', dirname(path), { neededBytes: bytes, reserveMegabytes })]),
    ...(await examineSpool(settings, databaseUrl, facts)),
    checkOpenFiles(),
    await checkPort('port', { host, port, option: '--port' }),
    ...(adminPort === undefined
      ? []
      : [await checkPort('admin port', { host: adminHost, port: adminPort, option: '--admin-port' })]),
  ];
}

async function examineSpool(
  { spool, activation, diskReserve }: ServeSettings,
  databaseUrl: string,
  facts: DatabaseFacts | undefined,
): Promise<Check[]> {
  if (activation === 'off' || facts?.clickKey === undefined) return [];
  const path = spoolPath(spool, databaseUrl, databaseName(facts.clickKey));
  const problem = spoolProblem(dirname(path));
  if (problem !== undefined)
    return [
      fault(
        'spool',
        problem,
        'choose another folder with --spool; until then clicks are lost while the database is unreachable',
      ),
    ];
  const disk = checkDisk('spool', dirname(path), { reserveMegabytes: diskReserve });
  if (disk.state !== 'ok') return [disk];
  let waiting: number;
  try {
    waiting = await countSpooled(path);
  } catch (error) {
    return [
      fault(
        'spool',
        messageOf(error),
        'until the spool is usable, clicks are lost while the database is unreachable',
      ),
    ];
  }
  if (waiting === 0) return [ok('spool', `empty; ${disk.found}`)];
  return [
    warning(
      'spool',
      `${printCountOf(waiting, 'click')} waiting in ${path}`,
      'start a server with this --spool to record them',
    ),
  ];
}

async function examinePublicUrl(url: string): Promise<Check> {
  const problem = await livenessProblem(url);
  if (problem === undefined) return ok('public URL', `Offerbook is reachable at ${url}`);
  return warning(
    'public URL',
    `Offerbook is not reachable from this machine at ${url}: ${problem}`,
    'check that a server is running and that the proxy forwards requests to it',
  );
}
