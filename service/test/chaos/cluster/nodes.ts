// Several server processes on one database. Each can be stopped, killed and restarted while requests continue. A request is
// retried if its server is down or still starting.

import type { Random } from '@offerbook/sandbox/random.ts';
import { ServerProcess } from '../../support/command.ts';

const RETRY_MS = 20;
/** Long enough for a server to start on a busy machine. */
const GIVE_UP_MS = 60_000;

/** Settings of one node, as environment variables. */
export type NodeSettings = Readonly<Record<string, string>>;

interface Node {
  readonly settings: NodeSettings;
  server: ServerProcess;
}

export class Cluster implements AsyncDisposable {
  readonly #nodes: Node[];

  private constructor(nodes: Node[]) {
    this.#nodes = nodes;
  }

  /** Starts a node for each of these settings. */
  static async start(all: readonly NodeSettings[]): Promise<Cluster> {
    const start = async (settings: NodeSettings) => ({ settings, server: await startServer(settings) });
    return new Cluster(await Promise.all(all.map(start)));
  }

  get size(): number {
    return this.#nodes.length;
  }

  get servers(): readonly ServerProcess[] {
    return this.#nodes.map(({ server }) => server);
  }

  /** Sends the request to a random node, and retries on random nodes. */
  sendToAny(path: string, token: string, random: Random): Promise<Response> {
    return this.#send(() => random.pick(this.#nodes), path, token);
  }

  async restart(index: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const node = this.#node(index);
    await node.server.stop(signal);
    node.server = await startServer(node.settings);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.map(({ server }) => server.stop('SIGKILL')));
  }

  #node(index: number): Node {
    const node = this.#nodes[index];
    if (node === undefined) throw new Error(`there is no node ${index}`);
    return node;
  }

  async #send(choose: () => Node, path: string, token: string): Promise<Response> {
    const giveUpMs = performance.now() + GIVE_UP_MS;
    let rejected = '';
    while (true) {
      try {
        const response = await fetch(choose().server.url + path, {
          headers: { Authorization: `Bearer ${token}` },
        });
        // Read the body here, because a server may be killed in the middle of it.
        const body = await response.text();
        if (response.status !== 503) return new Response(body, response);
        rejected = body;
      } catch (error) {
        if (performance.now() > giveUpMs) throw error;
      }
      if (performance.now() > giveUpMs)
        throw new Error(`no server has responded for ${GIVE_UP_MS} ms: ${rejected}`);
      await Bun.sleep(RETRY_MS);
    }
  }
}

function startServer(settings: NodeSettings): Promise<ServerProcess> {
  return ServerProcess.start([], {
    env: { OFFERBOOK_RATE_LIMIT_PRIVATE: '0', OFFERBOOK_LOG_LEVEL: 'info', ...settings },
  });
}
