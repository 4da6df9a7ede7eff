// The admin port, for operators: metrics, health checks and the console. It has its own server, so clients of the service
// cannot use up its connections.

import { Refused } from '@offerbook/wire/failures.ts';
import { TEXT_LENGTH_MAX } from '@offerbook/wire/text.ts';
import type { ServeSettings } from '../../config.ts';
import { machineFigures, recentHour, SAMPLE_INTERVAL_MS } from '../../console/recent-hour.ts';
import { boundedLog, type Logger } from '../../domain/logger.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import type { ReplicaState } from '../../domain/stores.ts';
import { runChecks } from '../../health/checks.ts';
import type { Facts } from '../../health/facts.ts';
import { clientReader } from '../../http/access/client-address.ts';
import { metricsPage, type NodeState } from '../../http/metrics.ts';
import { readiness } from '../../http/readiness.ts';
import { openAdminAccess, refusal } from './admin-access.ts';
import { openConsoleHost } from './console/console-host.ts';
import { databaseFigures } from './database-figures.ts';
import { diskFacts, spoolFolder } from './disk-reserve.ts';
import { bind, urlOf } from './listen.ts';
import type { NodeOptions } from './node-settings.ts';
import type { Serving } from './serving.ts';

/**
 * Only search-form requests have a body. A character takes up to three UTF-8 bytes, each percent-encoded as three characters.
 */
const BODY_MAX_BYTES = 1_024 + TEXT_LENGTH_MAX * 9;
const IDLE_TIMEOUT_S = 120;

interface AdminSource extends Pick<Serving, 'stores' | 'catalogue' | 'isReady' | 'report' | 'workers'> {
  sender(): NodeState['sender'];
}

/** Returns a function that closes the port; undefined if --admin-port is not set. */
export function openAdmin(options: NodeOptions, source: AdminSource): (() => Promise<void>) | undefined {
  const { settings, databaseUrl, clock, logger } = options;
  const { adminPort: port, adminHost: host, workers } = settings;
  if (port === undefined) return undefined;
  const refuse = openAdminAccess(settings);
  const folder = spoolFolder(settings.spool, databaseUrl);
  const consoleHost = openConsoleHost({ databaseUrl, folder, explorer: explorerUrl(settings) });
  const readClient = clientReader(settings.trustedProxies);
  const logRefusal = boundedLog((fields) => logger.warn(fields, 'rejected a request to the admin port'));
  const startedAtMs = clock();
  const recent = recentHour(startedAtMs, machineFigures(folder));
  const readFigures = databaseFigures(source.stores, clock);

  async function readState(): Promise<NodeState> {
    const read = await readFigures();
    const report = source.report();
    const isReady = source.isReady();
    return {
      ...report,
      isReady,
      checks: runChecks({
        nowMs: clock(),
        importAgeMaxMs: settings.importMaxAge,
        database: { ...report.databaseStatus, rivals: report.cluster?.rivals },
        failovers: report.cluster && {
          lastAtMs: null,
          unsettled: Number(report.cluster.isUnsettled),
          restamping: 0,
        },
        contents: read?.contents,
        clicks: report.clicks,
        replica: report.replica && replicaFacts(report.replica),
        disks: diskFacts(settings, databaseUrl),
        node: { isReady, workers, workersReady: source.workers().ready },
      }),
      catalogueRevision: source.catalogue.snapshot?.revision,
      catalogueItems: source.catalogue.snapshot?.counts(),
      database: read?.figures,
      workers: source.workers(),
      sender: source.sender(),
    };
  }

  async function answerConsole(request: Request): Promise<Response> {
    const state = await readState();
    const nowMs = clock();
    const hour = recent.figures(nowMs, state.requests.routes, machineFigures(folder));
    const body = request.method === 'POST' ? await request.text() : '';
    return consoleHost.answer(request, body, { nowMs, startedAtMs, state, hour, workers });
  }

  async function answer(request: Request, address: string): Promise<Response> {
    // If Bun cannot parse Host, request.url is the path alone or not a URL.
    const url = URL.parse(request.url, 'http://localhost');
    if (url === null) return refusal(421, 'The Host header is invalid.');
    const { pathname } = url;
    // Health checks do not need a secret, because probes cannot send one. The responses reveal only whether the node is
    // healthy.
    if (pathname === '/livez') return Response.json({ status: 'live' });
    if (pathname === '/readyz') {
      const { body, ...init } = readiness({ ...source.report(), isReady: source.isReady() });
      return Response.json(body, init);
    }
    const refused = refuse(request, address);
    if (refused !== undefined) {
      logRefusal({ address, status: refused.status });
      return refused;
    }
    if (pathname === '/metrics') return metricsPage(await readState());
    return answerConsole(request);
  }

  const server = bind({
    ...{ host, port, option: '--admin-port' },
    idleTimeout: IDLE_TIMEOUT_S,
    maxRequestBodySize: BODY_MAX_BYTES,
    fetch: async (request, self) => {
      try {
        const { address } = readClient(self.requestIP(request)?.address ?? '', request.headers);
        return await answer(request, address);
      } catch (error) {
        return failure(error, logger);
      }
    },
  });
  const timer = setInterval(
    () => recent.sample(clock(), source.report().requests.routes, machineFigures(folder)),
    SAMPLE_INTERVAL_MS,
  );
  return async () => {
    clearInterval(timer);
    await Promise.all([consoleHost.close(), server.stop(true)]);
  };
}

/** Without a public URL, the console can only link to this machine. */
function explorerUrl({ explorer, publicUrl, port }: ServeSettings): string | undefined {
  return explorer === 'on' ? (publicUrl ?? urlOf('localhost', port)) : undefined;
}

function replicaFacts({ isUsable, lagMs, reason }: ReplicaState): Facts['replica'] {
  const lag = `${(lagMs / 1_000).toFixed(0)} s behind the primary`;
  return {
    isUsable,
    found: isUsable ? `in use, ${lag}` : `not in use${reason === undefined ? '' : `: ${reason}`}`,
  };
}

function failure(error: unknown, logger: Logger): Response {
  const isExpected = error instanceof Refused || isStorageError(error);
  const text = isExpected ? `${error.message}.` : "Internal error; see the server's log.";
  if (!isExpected) logger.error({ err: error }, 'the console failed');
  return refusal(isExpected ? 503 : 500, text);
}
