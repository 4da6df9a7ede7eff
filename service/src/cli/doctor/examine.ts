// Runs all checks of `offerbook doctor` with the settings of `serve`: collects the facts for the health checks, and adds the checks
// that only `doctor` can make. The checks are read-only. Checks that need the database are skipped if it is unreachable.

import { dirname } from 'node:path';
import { BadInput } from '@offerbook/wire/failures.ts';
import { databaseName } from '../../activation/activation-directory.ts';
import type { ServeSettings } from '../../config.ts';
import type { Clock } from '../../domain/clock.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import { type Check, fault, ok, type Verdict, warning } from '../../health/check.ts';
import { runChecks } from '../../health/checks.ts';
import { CORRUPT_ADVICE } from '../../health/database-checks.ts';
import type { ClickFacts, DatabaseStatus, Facts } from '../../health/facts.ts';
import { findOpenFilesMax } from '../../http/open-files.ts';
import { withoutWaiting } from '../../pull/check-source.ts';
import {
  countSpooled,
  type DatabaseFacts,
  findFileProblems,
  inspectDatabase,
} from '../../storage/inspect-database.ts';
import { findSourceProblem, readPullSource } from '../commands/data/pull-sources.ts';
import { spoolPath, spoolProblem } from '../node/activation.ts';
import { diskFacts } from '../node/disk-reserve.ts';
import { storageMessage } from '../storage-failure.ts';
import { checkOpenFiles, checkPort, checkProxies, localUrl } from './check-machine.ts';
import { livenessProblem, reportsCorruption } from './liveness-problem.ts';

interface Examination {
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  /** Source files of `pull` to check. */
  readonly sources?: readonly string[] | undefined;
  readonly allowOtherHost?: boolean | undefined;
  /** True to read every page of an SQLite database. */
  readonly isDeep?: boolean;
  readonly clock: Clock;
}

export async function examine(examination: Examination): Promise<Check[]> {
  const { settings, sources = [], clock } = examination;
  const { host, port, adminHost, adminPort, publicUrl } = settings;
  const own: Record<string, Verdict | undefined> = {
    'open files': checkOpenFiles(findOpenFilesMax()),
    port: await checkPort({ host, port, option: '--port' }),
    'admin port':
      adminPort === undefined
        ? undefined
        : await checkPort({ host: adminHost, port: adminPort, option: '--admin-port' }),
    proxies: checkProxies(settings),
    'public URL': publicUrl === undefined ? undefined : await checkPublicUrl(publicUrl),
    integrity: examination.isDeep === true ? await checkIntegrity(examination.databaseUrl) : undefined,
  };
  return [
    ...runChecks(await collectFacts(examination)),
    ...(await Array.fromAsync(sources, (path) => checkSource(path, examination.allowOtherHost, clock))),
    ...Object.entries(own).flatMap(([check, verdict]) =>
      verdict === undefined ? [] : { check, ...verdict },
    ),
  ];
}

async function collectFacts({ settings, databaseUrl, clock }: Examination): Promise<Facts> {
  const { inspected, status } = await inspect(databaseUrl, clock);
  const server = localUrl(settings);
  const isReported = settings.port !== 0 && (await reportsCorruption(server));
  const isBroken = status.state === 'usable' && isReported;
  return {
    nowMs: clock(),
    importAgeMaxMs: settings.importMaxAge,
    database: isBroken ? { state: 'corrupt', reason: `reported by the server at ${server}` } : status,
    inspected,
    failovers: inspected?.failovers,
    contents: inspected?.contents,
    replica: await inspectReplica(settings.replicaUrl, clock),
    disks: diskFacts(settings, databaseUrl),
    clicks: await inspectSpool(settings, databaseUrl, inspected),
  };
}

/** `inspected` is undefined if the database cannot be read. */
async function inspect(
  url: string,
  clock: Clock,
  role: 'primary' | 'standby' = 'primary',
): Promise<{ status: DatabaseStatus; inspected?: DatabaseFacts }> {
  try {
    const inspected = await inspectDatabase(url, clock, role);
    return { status: { state: 'usable', rivals: inspected.postgres?.rivals }, inspected };
  } catch (error) {
    const state = isStorageError(error, 'corrupt') ? 'corrupt' : 'unreachable';
    return { status: { state, reason: messageOf(error) } };
  }
}

/** Rethrows unexpected errors. */
function messageOf(error: unknown): string {
  if (isStorageError(error)) return storageMessage(error);
  if (error instanceof BadInput) return error.message;
  throw error;
}

async function inspectReplica(url: string | undefined, clock: Clock): Promise<Facts['replica']> {
  if (url === undefined) return undefined;
  const { status, inspected } = await inspect(url, clock, 'standby');
  if (inspected === undefined) return { isUsable: false, found: status.reason ?? '' };
  if (inspected.postgres?.isReadOnly === true) return { isUsable: true, found: inspected.place };
  const found = `${inspected.place} is not a standby, because it accepts writes; set --replica-url to a standby`;
  return { isUsable: false, found };
}

async function inspectSpool(
  { spool, activation }: ServeSettings,
  databaseUrl: string,
  facts: DatabaseFacts | undefined,
): Promise<ClickFacts | undefined> {
  if (activation === 'off' || facts?.clickKey === undefined) return undefined;
  const path = spoolPath(spool, databaseUrl, databaseName(facts.clickKey));
  const problem = spoolProblem(dirname(path));
  const loss = 'until then clicks are lost while the database is unreachable';
  if (problem !== undefined)
    return { fate: 'recorded', problem: fault(problem, `choose another folder with --spool; ${loss}`) };
  try {
    return { fate: 'recorded', waiting: await countSpooled(path) };
  } catch (error) {
    return { fate: 'recorded', problem: fault(messageOf(error), `make the spool usable; ${loss}`) };
  }
}

async function checkIntegrity(databaseUrl: string): Promise<Verdict> {
  const problems = await findFileProblems(databaseUrl);
  if (problems === undefined) return ok('not checked: run pg_amcheck on the PostgreSQL server');
  if (problems.length === 0) return ok('every page was read');
  return fault(problems.join('; '), CORRUPT_ADVICE);
}

/** Checks a source's file, its secrets, and its network with one small request. */
export async function checkSource(
  path: string,
  allowOtherHost: boolean | undefined,
  clock: Clock,
): Promise<Check> {
  try {
    const source = await readPullSource(path, { allowOtherHost });
    const problem = await findSourceProblem(source, {
      ...{ stores: { pulls: withoutWaiting(clock) }, clock, tries: 1 },
      ...{ sleep: (ms) => Bun.sleep(ms), random: Math.random },
    });
    const check = `source ${source.name}`;
    if (problem === undefined)
      return { check, ...ok("the credentials work, and the network's clock agrees") };
    return { check, ...fault(problem, 'until this is fixed, no sales are pulled: docs/feeds.md, Pull') };
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    const advice = 'fix the source file or the files that it names';
    return { check: `source ${path}`, ...fault(error.message, advice) };
  }
}

async function checkPublicUrl(url: string): Promise<Verdict> {
  const problem = await livenessProblem(url);
  if (problem === undefined) return ok(`Offerbook is reachable at ${url}`);
  return warning(
    `Offerbook is not reachable from this machine at ${url}: ${problem}`,
    'check that a server is running and that the proxy forwards requests to it',
  );
}
