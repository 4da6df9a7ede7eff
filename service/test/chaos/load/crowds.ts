// Well-behaved traffic with and without hostile clients, in alternating rounds, so that other load on the machine affects both:
// thousands of clients that hold connections, directly and through proxies, and clients that pipeline.

import { PROXIES, type ProxyName, startProxy } from '../../support/reverse-proxy.ts';
import { until } from '../../support/until.ts';
import type { Node } from '../cluster/node.ts';
import type { Run } from '../report/run.ts';
import { type Crowd, startCrowd } from '../traffic/crowd.ts';
import { forMs, openLoop } from '../traffic/loops.ts';
import { median, Tally } from '../traffic/tally.ts';
import {
  addFigures,
  type LoadedNode,
  requireAnswered,
  requireBoundedMemory,
  requireWhenIdle,
  startLoaded,
  watchNode,
} from './figures.ts';

const GOOD_PER_SECOND = 200;
const GOOD_CONNECTIONS_MAX = 100;
/** Number of files that the node may open during a run, such as the file of the walks and a connection of the test. */
const FILES_SPARE = 10;
/** Longest wait for /livez while connections send bursts and reconnect. */
const LIVEZ_MAX_MS = 1_000;

export async function hostileClients(run: Run): Promise<void> {
  const held = run.number('clients');
  const places: readonly ('alone' | ProxyName)[] = ['alone', ...PROXIES];
  for (const place of run.choose('place', places, (name) => name)) {
    const part = `hostile clients, ${place}`;
    await using stack = new AsyncDisposableStack();
    const loaded = await startLoaded(run, stack);
    const { node } = loaded;
    const before = node.openFiles;
    const slow = openSlowConnections(node);
    // The proxy is stopped before the files are counted, because it keeps connections open for the next request.
    const proxy = place === 'alone' ? undefined : await startProxy(place, [node.url]);
    const requests = [loaded.catalogue, loaded.catalogue, loaded.transactions];
    const url = proxy?.url ?? node.url;
    const compared = await compare(run, part, loaded, { url, requests, crowd: { held } }).finally(() =>
      proxy?.[Symbol.asyncDispose](),
    );
    requireP99(run, part, compared);
    run.require(`${part}: the whole crowd connected`, compared.opened > held, compared.opened);
    if (place === 'alone') await slow;
    const files = await until(
      () => node.openFiles,
      (now) => now < before + FILES_SPARE,
    ).catch(() => node.openFiles);
    const { memoryMb } = node;
    addFigures(run, part, { 'open files': { before, most: compared.filesMost, after: files }, memoryMb });
    run.require(`${part}: no file handles leak`, files < before + FILES_SPARE, { before, files });
    requireBoundedMemory(run, part, memoryMb);
    const code = await node.stop();
    run.require(`${part}: the node stops`, code === 0, code);
  }
}

export async function pipelining(run: Run): Promise<void> {
  const endless = { floods: 1, burst: 0 };
  const bursts = { floods: 64, burst: 19 };
  for (const workers of run.choose('workers', ['1', '2'], (count) => count)) {
    for (const crowd of [endless, bursts]) {
      const part = `${crowd === endless ? 'endless pipeline' : 'pipelined bursts'}, workers: ${workers}`;
      await using stack = new AsyncDisposableStack();
      const loaded = await startLoaded(run, stack, ['--workers', workers]);
      const requests = [loaded.catalogue];
      const compared = await compare(run, part, loaded, { url: loaded.node.url, requests, crowd });
      const { livezMaxMs, cutOff } = compared;
      requireWhenIdle(run, `${part}: /livez takes less than a second`, livezMaxMs < LIVEZ_MAX_MS, livezMaxMs);
      if (crowd !== endless) continue;
      requireP99(run, part, compared);
      // Without a limit per connection, the endless connection would keep all other clients waiting.
      run.require(`${part}: the node closes connections`, cutOff > 10 * run.number('rounds'), cutOff);
    }
  }
}

interface Traffic {
  /** URL for all clients: the node itself, or a proxy in front of it. */
  readonly url: string;
  readonly requests: readonly Uint8Array[];
  readonly crowd: Crowd;
}

/** Alternates rounds without and with the crowd. Every well-behaved request must succeed. */
async function compare(run: Run, part: string, loaded: LoadedNode, { url, requests, crowd }: Traffic) {
  const { node, tokens } = loaded;
  const good = new Tally();
  const p99s: { without: number[]; with: number[] } = { without: [], with: [] };
  const measure = async () => {
    const isOver = forMs(run.number('round-seconds') * 1_000);
    const tally = await openLoop({ url, requests, isOver }, GOOD_PER_SECOND, GOOD_CONNECTIONS_MAX);
    good.add(tally);
    return tally.percentileMs(0.99);
  };
  await measure();
  let [livezMaxMs, opened, cutOff, filesMost] = [0, 0, 0, 0];
  for (let round = 0; round < run.number('rounds'); round++) {
    p99s.without.push(await measure());
    const started = await startCrowd(url, tokens.public, { ...crowd, seed: run.seed + round });
    const watch = watchNode(node);
    p99s.with.push(await measure());
    filesMost = Math.max(filesMost, node.openFiles);
    livezMaxMs = Math.max(livezMaxMs, (await watch.stop()).livez.percentileMs(1));
    const counts = await started.stop();
    opened += counts.opened;
    cutOff += counts.cutOff;
  }
  const p99Ms = { without: median(p99s.without), with: median(p99s.with) };
  addFigures(run, part, {
    statuses: good.statuses,
    'p99, ms': p99Ms,
    '/livez at most, ms': Math.round(livezMaxMs),
    'hostile connections': { opened, 'cut off': cutOff },
  });
  requireAnswered(run, part, good);
  return { p99Ms, livezMaxMs, opened, cutOff, filesMost };
}

function requireP99(run: Run, part: string, { p99Ms }: { p99Ms: { without: number; with: number } }): void {
  requireWhenIdle(run, `${part}: p99 at most doubles`, p99Ms.with <= 2 * p99Ms.without, p99Ms);
}

/** Opens connections that send headers slowly, or nothing; returns when the server has closed them. */
async function openSlowConnections({ url }: Node): Promise<void> {
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
