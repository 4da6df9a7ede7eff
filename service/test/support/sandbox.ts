// A running sandbox process.

import { expect } from 'bun:test';
import { type RunOptions, spawnOfferbook } from './command.ts';

export class Sandbox implements AsyncDisposable {
  readonly text: string;
  readonly #child: ReturnType<typeof spawnOfferbook>;

  private constructor(text: string, child: ReturnType<typeof spawnOfferbook>) {
    this.text = text;
    this.#child = child;
  }

  static start(folder: string, ...args: string[]): Promise<Sandbox> {
    return Sandbox.startWith({ cwd: folder }, ...args);
  }

  static async startWith(options: RunOptions, ...args: string[]): Promise<Sandbox> {
    const child = spawnOfferbook(['sandbox', '--port', '0', ...args], options);
    const decoder = new TextDecoder();
    let text = '';
    // A reader, because leaving a for-await loop would close the pipe while the process still writes.
    const reader = child.stdout.getReader();
    while (!text.includes('--fresh\n')) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`the sandbox ended: ${await new Response(child.stderr).text()}`);
      text += decoder.decode(value, { stream: true });
    }
    return new Sandbox(text, child);
  }

  get url(): string {
    return /API +(http\S+)/.exec(this.text)?.[1] ?? '';
  }

  get port(): string {
    return new URL(this.url).port;
  }

  token(kind: 'pub' | 'prv'): string {
    return new RegExp(`ob_${kind}_\\w+`).exec(this.text)?.[0] ?? '';
  }

  get orgId(): string {
    return /orgId +([0-9a-f-]{36})/.exec(this.text)?.[1] ?? '';
  }

  get curlLines(): string[] {
    return this.text.split('\n').filter((line) => line.trim().startsWith('curl '));
  }

  async get<T>(path: string, kind: 'pub' | 'prv'): Promise<T> {
    const answer = await fetch(this.url + path, { headers: { Authorization: `Bearer ${this.token(kind)}` } });
    expect(answer.status).toBe(200);
    return (await answer.json()) as T;
  }

  /** Signals the process, waits for it to exit, and returns its exit code and stderr. */
  async stop(
    signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' = 'SIGTERM',
  ): Promise<{ code: number; stderr: string }> {
    this.#child.kill(signal);
    return { code: await this.#child.exited, stderr: await new Response(this.#child.stderr).text() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }
}
