// The service as a process with its own database.

import { join } from 'node:path';
import { offerbook, ServerProcess } from '../../../service/test/support/command.ts';
import { temporaryFolder } from '../../../service/test/support/databases.ts';
import { freePort } from '../../../service/test/support/postgres-server.ts';

export class ServiceProcess implements AsyncDisposable {
  readonly url: string;
  readonly databaseUrl: string;
  readonly #port: number;
  #server: ServerProcess | undefined;

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
    this.#server = await ServerProcess.start(['--port', String(this.#port), '--database', this.databaseUrl]);
  }

  /** Runs an offerbook command on the service's database; throws if it fails. */
  async run(args: readonly string[], stdin = ''): Promise<string> {
    const env = { OFFERBOOK_DATABASE_URL: this.databaseUrl };
    const { code, stdout, stderr } = await offerbook(args, { env, stdin });
    if (code !== 0) throw new Error(`offerbook ${args.join(' ')}: ${stderr}`);
    return stdout;
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
    await this.#server?.stop();
  }
}

function ndjson(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
