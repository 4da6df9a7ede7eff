// Several server processes on one database, each of which may be stopped, killed and started again while
// requests go on. A request that meets a dead or starting server is sent again.

import type { Random } from '@offerbook/sandbox/random.ts';
import { ServerProcess } from '../support/command.ts';

const RETRY_MS = 20;
/** Long enough for a server to start on a busy machine. */
const GIVE_UP_MS = 60_000;

class Node {
  server: ServerProcess;

  constructor(server: ServerProcess) {
    this.server = server;
  }
}

export class Cluster implements AsyncDisposable {
  readonly #databaseUrl: string;
  readonly #nodes: Node[];

  private constructor(databaseUrl: string, nodes: Node[]) {
    this.#databaseUrl = databaseUrl;
    this.#nodes = nodes;
  }

  static async start(databaseUrl: string, size: number): Promise<Cluster> {
    const servers = await Promise.all(Array.from({ length: size }, () => startServer(databaseUrl)));
    return new Cluster(
      databaseUrl,
      servers.map((server) => new Node(server)),
    );
  }

  get size(): number {
    return this.#nodes.length;
  }

  /** Sends to one node after the other, in an order that chance decides. */
  sendToAny(path: string, token: string, random: Random): Promise<Response> {
    return this.#send(() => random.pick(this.#nodes), path, token);
  }

  async restart(index: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const node = this.#node(index);
    await node.server.stop(signal);
    node.server = await startServer(this.#databaseUrl);
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
        // The body is part of it: a server may be killed in the middle of one.
        const body = await response.text();
        if (response.status !== 503) return new Response(body, response);
        rejected = body;
      } catch (error) {
        if (performance.now() > giveUpMs) throw error;
      }
      if (performance.now() > giveUpMs)
        throw new Error(`no server has answered for ${GIVE_UP_MS} ms: ${rejected}`);
      await Bun.sleep(RETRY_MS);
    }
  }
}

function startServer(databaseUrl: string): Promise<ServerProcess> {
  return ServerProcess.start([], {
    env: {
      OFFERBOOK_DATABASE_URL: databaseUrl,
      OFFERBOOK_RATE_LIMIT_PRIVATE: '0',
      OFFERBOOK_LOG_LEVEL: 'info',
    },
  });
}
