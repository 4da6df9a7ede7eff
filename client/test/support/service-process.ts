// The service as its users run it: a process on a port, with a database of its own. It can be killed and
// started again at the same address.

import { join } from 'node:path';
import { temporaryFolder } from '../../../service/test/support/databases.ts';
import { watchCommand, watchProcessList } from '../../../service/test/support/leak-watch.ts';
import { freePort } from '../../../service/test/support/postgres-server.ts';

const MAIN = join(import.meta.dir, '../../../service/src/main.ts');

export class ServiceProcess implements AsyncDisposable {
  readonly url: string;
  readonly databaseUrl: string;
  readonly #port: number;
  #process: Bun.Subprocess | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.databaseUrl = `sqlite:${join(temporaryFolder(), 'service.db')}`;
  }

  static async start(): Promise<ServiceProcess> {
    const service = new ServiceProcess(await freePort());
    await service.run(['orgs', 'create', 'acme']);
    await service.start();
    return service;
  }

  async start(): Promise<void> {
    const args = ['serve', '--port', String(this.#port)];
    const server = Bun.spawn([process.execPath, MAIN, ...args], {
      env: cleanEnvironment(this.databaseUrl),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#process = server;
    await untilReady(watchCommand(args, server).stdout);
    watchProcessList(server.pid);
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    await this.#process?.exited;
  }

  /** Runs a command of the service on its database; throws unless it succeeds. */
  async run(args: readonly string[], stdin = ''): Promise<string> {
    const result = await runOfferbook(args, { env: cleanEnvironment(this.databaseUrl), stdin });
    if (result.code !== 0) throw new Error(`offerbook ${args.join(' ')}: ${result.stderr}`);
    return result.stdout;
  }

  async token(kind: 'public' | 'private'): Promise<string> {
    const issued = await this.run(['tokens', 'issue', '--org', 'acme', '--kind', kind, '--json']);
    return (JSON.parse(issued) as { token: string }).token;
  }

  async importCatalogue(retailers: readonly unknown[]): Promise<void> {
    await this.run(['import', 'catalogue', '-'], ndjson(retailers));
  }

  async importTransactions(rows: readonly unknown[]): Promise<void> {
    await this.run(['import', 'transactions', '-', '--org', 'acme'], ndjson(rows));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process?.kill('SIGTERM');
    await this.#process?.exited;
  }
}

/** Goes on reading after that: a server whose log nobody reads would be held up by it. */
function untilReady(log: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  return new Promise((resolve, reject) => {
    const onChunk = (chunk: Uint8Array) => {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes('"msg":"ready"')) resolve();
    };
    const onEnd = () => reject(new Error(`the service did not start: ${text}`));
    log.pipeTo(new WritableStream({ write: onChunk })).then(onEnd, reject);
  });
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runOfferbook(
  args: readonly string[],
  { env, stdin = '' }: { env: Record<string, string | undefined>; stdin?: string },
): Promise<CommandResult> {
  const command = watchCommand(
    args,
    Bun.spawn([process.execPath, MAIN, ...args], {
      env,
      stdin: new Blob([stdin]),
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  );
  const [code, stdout, stderr] = await Promise.all([
    command.exited,
    new Response(command.stdout).text(),
    new Response(command.stderr).text(),
  ]);
  return { code, stdout, stderr };
}

/** Without the settings of whoever runs the tests: `serve` refuses those that it does not know. */
export function cleanEnvironment(databaseUrl?: string): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('OFFERBOOK_'));
  return { ...Object.fromEntries(own), ...(databaseUrl && { OFFERBOOK_DATABASE_URL: databaseUrl }) };
}

function ndjson(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
