// Well-behaved traffic with and without hostile clients, in alternating rounds, so that other load on the machine affects both:
// thousands of clients that hold connections, directly and through proxies, and clients that pipeline.

import { PROXIES, type ProxyName, ReverseProxy } from '../../support/reverse-proxy.ts';
import { until } from '../../support/until.ts';
import { LoadedService, type Seeded, seed } from '../cluster/loaded-service.ts';
import type { Run } from '../report/run.ts';
import { type Crowd, startCrowd } from '../traffic/crowd.ts';
import { forMs, openLoop } from '../traffic/loops.ts';
import { Tally } from '../traffic/tally.ts';
import {
  addFigures,
  MEMORY_MAX_MB,
  median,
  requireAnswered,
  requireWhenIdle,
  watchService,
} from './figures.ts';

const GOOD_PER_SECOND = 200;
const GOOD_CONNECTIONS_MAX = 100;
/** Number of files that the service may open during a run, such as the file of the walks and a connection of the test. */
const FILES_SPARE = 10;
/** Longest wait for /livez while connections send bursts and reconnect. */
const LIVEZ_MAX_MS = 1_000;
const FLOODS: readonly Crowd[] = [
  { floods: 1, burst: 0 },
  { floods: 64, burst: 19 },
];

interface Comparison {
  readonly good: Tally;
  readonly quietP99Ms: number;
  readonly hostileP99Ms: number;
  readonly livezMaxMs: number;
  readonly opened: number;
  readonly cutOff: number;
  readonly filesMost: number;
}

async function compare(
  run: Run,
  { url, service, requests, token }: Compared,
  crowd: Crowd,
): Promise<Comparison> {
  const good = new Tally();
  const p99s: { quiet: number[]; hostile: number[] } = { quiet: [], hostile: [] };
  const measure = async () => {
    const isOver = forMs(run.number('round-seconds') * 1_000);
    const tally = await openLoop({ url, requests, isOver }, GOOD_PER_SECOND, GOOD_CONNECTIONS_MAX);
    good.add(tally);
    return tally.percentileMs(0.99);
  };
  await measure();
  let [livezMaxMs, opened, cutOff, filesMost] = [0, 0, 0, 0];
  for (let round = 0; round < run.number('rounds'); round++) {
    p99s.quiet.push(await measure());
    const started = await startCrowd(url, token, { ...crowd, seed: run.seed + round });
    const watch = watchService(service);
    p99s.hostile.push(await measure());
    filesMost = Math.max(filesMost, service.openFiles);
    livezMaxMs = Math.max(livezMaxMs, (await watch.stop()).livez.percentileMs(1));
    const counts = await started.stop();
    opened += counts.opened;
    cutOff += counts.cutOff;
  }
  const [quietP99Ms, hostileP99Ms] = [median(p99s.quiet), median(p99s.hostile)];
  return { good, quietP99Ms, hostileP99Ms, livezMaxMs, opened, cutOff, filesMost };
}

interface Compared {
  /** URL for all clients: the service itself, or a proxy in front of it. */
  readonly url: string;
  readonly service: LoadedService;
  readonly requests: readonly Uint8Array[];
  readonly token: string;
}

/** Common to both parts: every good request succeeds, and the crowd at most doubles the p99. */
function report(run: Run, part: string, compared: Comparison, p99Matters: boolean): void {
  const { good, quietP99Ms, hostileP99Ms, livezMaxMs, opened, cutOff } = compared;
  const p99s = { without: Number(quietP99Ms.toFixed(2)), with: Number(hostileP99Ms.toFixed(2)) };
  addFigures(run, part, {
    statuses: good.statuses,
    'p99, ms': p99s,
    '/livez at most, ms': Math.round(livezMaxMs),
    'hostile connections': { opened, 'cut off': cutOff },
  });
  requireAnswered(run, part, good);
  if (p99Matters) requireWhenIdle(run, `${part}: p99 at most doubles`, hostileP99Ms <= 2 * quietP99Ms, p99s);
}

export async function hostileClients(run: Run): Promise<void> {
  const held = run.number('clients');
  const places: readonly ('alone' | ProxyName)[] = ['alone', ...PROXIES];
  for (const place of run.choose('place', places, (name) => name)) {
    const part = `hostile clients, ${place}`;
    const seeded = await seed(await run.database.create());
    await using service = await LoadedService.start(seeded);
    const before = service.openFiles;
    const slow = openSlowConnections(service);
    const compared = await compareAt(run, place, service, seeded, held);
    report(run, part, compared, true);
    run.require(`${part}: the whole crowd connected`, compared.opened > held, compared.opened);
    if (place === 'alone') await slow;
    const files = await until(
      () => service.openFiles,
      (now) => now < before + FILES_SPARE,
    ).catch(() => service.openFiles);
    const { memoryMb } = service;
    addFigures(run, part, { 'open files': { before, most: compared.filesMost, after: files }, memoryMb });
    run.require(`${part}: no file handles leak`, files < before + FILES_SPARE, { before, files });
    run.require(`${part}: memory is bounded`, memoryMb <= MEMORY_MAX_MB, memoryMb);
    const code = await service.stop();
    run.require(`${part}: the service stops`, code === 0, code);
  }
}

async function compareAt(
  run: Run,
  place: 'alone' | ProxyName,
  service: LoadedService,
  { catalogueRequest, transactionsRequest, publicToken: token }: Seeded,
  held: number,
): Promise<Comparison> {
  // The proxy is stopped first, because it keeps connections open for the next request.
  await using proxy = place === 'alone' ? undefined : await ReverseProxy.start(place, [service.url]);
  const requests = [catalogueRequest, catalogueRequest, transactionsRequest];
  return await compare(run, { url: proxy?.url ?? service.url, service, requests, token }, { held });
}

/** Connections that send headers slowly, or nothing, and return when the server has closed them. */
async function openSlowConnections({ url }: LoadedService): Promise<void> {
  const { hostname, port } = new URL(url);
  const untilClosed = async (bytes: string) => {
    let [isClosed, sent] = [false, 0];
    const close = () => {
      isClosed = true;
    };
    const socket = { data: () => {}, end: close, close, error: close };
    const connection = await Bun.connect({ hostname, port: Number(port), socket });
    await until(() => {
      connection.write(bytes[sent++ >> 5] ?? '');
      return isClosed;
    });
  };
  await Promise.all(['', 'GET /livez HTTP/1.1\r\nHost: x\r\nX: '.padEnd(5_000, 'a')].map(untilClosed));
}

export async function pipelining(run: Run): Promise<void> {
  for (const workers of run.choose('workers', ['1', '2'], (count) => count)) {
    for (const crowd of FLOODS) {
      const shape = crowd.burst === 0 ? 'endless pipeline' : 'bursts of pipelined requests';
      const part = `${shape}, workers: ${workers}`;
      const seeded = await seed(await run.database.create());
      await using service = await LoadedService.start(seeded, ['--workers', workers]);
      const requests = [seeded.catalogueRequest];
      const target = { url: service.url, service, requests, token: seeded.publicToken };
      const compared = await compare(run, target, crowd);
      report(run, part, compared, crowd.floods === 1);
      const { livezMaxMs, cutOff } = compared;
      requireWhenIdle(run, `${part}: /livez takes less than a second`, livezMaxMs < LIVEZ_MAX_MS, livezMaxMs);
      // Without a limit per connection, the endless connection would keep all other clients waiting.
      if (crowd.burst === 0)
        run.require(`${part}: the service closes connections`, cutOff > 10 * run.number('rounds'), cutOff);
    }
  }
}
