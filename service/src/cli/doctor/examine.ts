// Examines an installation with the settings that `serve` would have: everything is looked at, nothing is changed. What
// cannot be looked at, because the database does not answer, is left out.

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
import { storageWords } from '../storage-failure.ts';
import { type Check, fault, ok, warning } from './check.ts';
import { checkDisk, checkOpenFiles, checkPort } from './check-machine.ts';
import { judgeImports, judgeTokens, judgeWriteLock } from './judge-books.ts';
import { judgeDatabase } from './judge-database.ts';
import { judgeProxies } from './judge-proxies.ts';
import { isOfferbook } from './probe.ts';

interface Examination {
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  /** How old the last import may be. */
  readonly importAgeMaxMs: number;
  readonly clock: Clock;
}

export async function examine(examination: Examination): Promise<Check[]> {
  const { settings, databaseUrl, importAgeMaxMs, clock } = examination;
  const facts = await findFacts(databaseUrl, clock);
  const nowMs = clock();
  const checks: Check[] = [];
  if ('state' in facts) checks.push(facts);
  else {
    checks.push(...judgeDatabase(facts, nowMs));
    if (facts.books !== undefined) {
      checks.push(...judgeImports(facts.books.feeds, nowMs, importAgeMaxMs));
      checks.push(judgeWriteLock(facts.books.writeLock, nowMs));
      checks.push(judgeTokens(facts.books.tokens, nowMs));
    }
  }
  checks.push(...(await examineReplica(settings.replicaUrl, clock)));
  checks.push(...(await examineMachine(examination, 'state' in facts ? undefined : facts)));
  checks.push(judgeProxies(settings));
  if (settings.publicUrl !== undefined) checks.push(await examinePublicUrl(settings.publicUrl));
  return checks;
}

/** What is seen of it, or that nothing is. */
async function findFacts(
  url: string,
  clock: Clock,
  role: 'primary' | 'standby' = 'primary',
): Promise<DatabaseFacts | Check> {
  try {
    return await inspectDatabase(url, clock, role);
  } catch (error) {
    const words = isStorageError(error)
      ? storageWords(error)
      : error instanceof BadInput
        ? error.message
        : undefined;
    if (words !== undefined)
      return fault('database', words, 'serve does not start until it can use its database');
    throw error;
  }
}

async function examineReplica(url: string | undefined, clock: Clock): Promise<Check[]> {
  if (url === undefined) return [];
  const facts = await findFacts(url, clock, 'standby');
  const advice = 'pages of transactions come from the primary until it can be used';
  if ('state' in facts) return [warning('replica', facts.found, advice)];
  if (facts.postgres?.isReadOnly === true) return [ok('replica', facts.place)];
  return [
    warning('replica', `${facts.place} is no standby: it takes writes`, 'name a replica in --replica-url'),
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
      fault('spool', problem, 'name another with --spool: clicks are lost there when the database is away'),
    ];
  const disk = checkDisk('spool', dirname(path), { reserveMegabytes: diskReserve });
  if (disk.state !== 'ok') return [disk];
  let waiting: number;
  try {
    waiting = await countSpooled(path);
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    return [
      fault('spool', error.message, 'clicks are lost when the database is away, until the spool can be used'),
    ];
  }
  if (waiting === 0) return [ok('spool', `empty; ${disk.found}`)];
  return [
    warning(
      'spool',
      `${printCountOf(waiting, 'click')} waiting in ${path}`,
      'start a server with this spool: it takes them up',
    ),
  ];
}

async function examinePublicUrl(url: string): Promise<Check> {
  if (await isOfferbook(url)) return ok('public URL', `${url} is answered by Offerbook`);
  return warning(
    'public URL',
    `${url} is not answered by Offerbook, as seen from here`,
    'see that the proxy passes requests on, and that a server runs',
  );
}
