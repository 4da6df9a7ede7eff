// Well-behaved traffic with and without hostile clients, in alternating rounds, so that other load on the machine affects both:
// thousands of clients that hold connections, directly and through proxies, and clients that pipeline.

import { PROXIES, type ProxyName, startProxy } from '../../support/reverse-proxy.ts';
import { until } from '../../support/until.ts';
import type { Node } from '../cluster/node.ts';
import type { Run } from '../report/run.ts';
import { type Crowd, startCrowd } from '../traffic/crowd.ts';
import { forMs, openLoop } from '../traffic/loops.ts';
import { median, requireAnswered, type Tally } from '../traffic/tally.ts';
import { type LoadedNode, MEMORY_MAX_MB, startLoaded, watchNode } from './loaded-node.ts';

const GOOD_PER_SECOND = 200;
const GOOD_CONNECTIONS_MAX = 100;
/** Number of files that the node may open during a run, such as the file of the walks and a connection of the test. */
const FILES_SPARE = 10;
/** Longest wait for /livez while connections send bursts and reconnect. */
const LIVEZ_MAX_MS = 1_000;

interface Attack {
  readonly name: string;
  readonly proxy?: ProxyName;
  readonly workers?: string;
  /** What the crowd does. The default is to hold connections open. */
  readonly crowd?: Crowd;
}

const ENDLESS: Crowd = { floods: 1, burst: 0 };
const BURSTS: Crowd = { floods: 64, burst: 19 };

const ATTACKS: readonly Attack[] = [
  { name: 'alone' },
  ...PROXIES.map((proxy) => ({ name: proxy, proxy })),
  ...['1', '2'].flatMap((workers) => [
    { name: `endless pipeline, ${workers}`, workers, crowd: ENDLESS },
    { name: `pipelined bursts, ${workers}`, workers, crowd: BURSTS },
  ]),
];

export async function hostileClients(run: Run): Promise<void> {
  for (const { name, proxy, workers = '1', crowd } of run.choose('attack', ATTACKS)) {
    const part = `hostile clients, ${name}`;
    await using stack = new AsyncDisposableStack();
    const loaded = await startLoaded(run, stack, ['--workers', workers]);
    const { node } = loaded;
    const before = node.openFiles;
    const slow = name === 'alone' ? openSlowConnections(node) : undefined;
    const held = crowd === undefined ? run.number('clients') : 0;
    const compared = await compare(run, part, loaded, crowd ?? { held }, proxy);
    await slow;
    const files = await until(
      () => node.openFiles,
      (now) => now < before + FILES_SPARE,
    ).catch(() => node.openFiles);
    const { p99Ms, livezMaxMs, opened, cutOff, filesMost } = compared;
    run.figure(`${part}: open files`, { before, most: filesMost, after: files });
    run.require(`${part}: the whole crowd connected`, opened > held, opened);
    run.require(`${part}: no file handles leak`, files < before + FILES_SPARE, { before, files });
    run.limit(`${part}: memory`, node.memoryMb, MEMORY_MAX_MB, 'MB');
    if (crowd !== BURSTS)
      run.requireWhenIdle(`${part}: p99 at most doubles`, p99Ms.with <= 2 * p99Ms.without, p99Ms);
    run.limit(`${part}: slowest /livez`, livezMaxMs, LIVEZ_MAX_MS, 'ms');
    // Without a limit per connection, the endless connection would keep all other clients waiting.
    if (crowd === ENDLESS)
      run.require(`${part}: the node closes connections`, cutOff > 10 * run.number('rounds'), cutOff);
    const code = await node.stop();
    run.require(`${part}: the node stops`, code === 0, code);
  }
}

/** Alternates rounds without and with the crowd. Every well-behaved request must succeed. */
async function compare(run: Run, part: string, loaded: LoadedNode, crowd: Crowd, proxyName?: ProxyName) {
  const { node, tokens, catalogue, transactions } = loaded;
  // The proxy is stopped before the caller counts the files, because it keeps connections open for the next request.
  await using proxy = proxyName === undefined ? undefined : await startProxy(proxyName, [node.url]);
  const url = proxy?.url ?? node.url;
  const requests = [catalogue, catalogue, transactions];
  const measure = (): Promise<Tally> => {
    const isOver = forMs(run.number('round-seconds') * 1_000);
    return openLoop({ url, requests, isOver }, GOOD_PER_SECOND, GOOD_CONNECTIONS_MAX);
  };
  const good = { warmUp: [await measure()], without: [] as Tally[], with: [] as Tally[] };
  let [livezMaxMs, opened, cutOff, filesMost] = [0, 0, 0, 0];
  for (let round = 0; round < run.number('rounds'); round++) {
    good.without.push(await measure());
    const started = await startCrowd(url, tokens.public, { ...crowd, seed: run.seed + round });
    const watch = watchNode(node);
    good.with.push(await measure());
    filesMost = Math.max(filesMost, node.openFiles);
    livezMaxMs = Math.max(livezMaxMs, (await watch.stop()).livez.percentileMs(1));
    const counts = await started.stop();
    opened += counts.opened;
    cutOff += counts.cutOff;
  }
  const p99Of = (tallies: readonly Tally[]) => median(tallies.map((tally) => tally.percentileMs(0.99)));
  const p99Ms = { without: p99Of(good.without), with: p99Of(good.with) };
  run.figure(`${part}: p99 in ms`, p99Ms);
  run.figure(`${part}: hostile connections`, { opened, 'cut off': cutOff });
  for (const tally of Object.values(good).flat()) requireAnswered(run, part, tally);
  return { p99Ms, livezMaxMs, opened, cutOff, filesMost };
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
