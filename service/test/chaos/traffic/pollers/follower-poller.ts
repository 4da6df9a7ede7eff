// The client library's follower, one walk at a time. An interrupted walk resumes where it stopped.

import { NetworkError, OfferbookClient } from '@offerbook/client';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { FetchPage, Page, PageQuery, Poller } from './poller.ts';
import { upsert } from './poller.ts';

export class FollowerPoller implements Poller {
  readonly kind = 'client library';
  readonly copy = new Map<Uuid, Transaction>();
  readonly #client: OfferbookClient;
  #checkpoint: string | undefined;

  constructor(fetchPage: FetchPage, token: string) {
    this.#client = new OfferbookClient({
      baseUrl: 'http://nemesis.invalid',
      token,
      fetch: async (url) => printPage(await fetchPage(readQuery(url))),
      retry: { attemptsMax: 1 },
      timeoutMs: 120_000,
    });
  }

  async walk(limit: number): Promise<void> {
    const follower = this.#client.followTransactions({
      checkpoint: this.#checkpoint,
      onCheckpoint: (checkpoint) => {
        this.#checkpoint = checkpoint;
      },
      once: true,
      limit,
    });
    try {
      for await (const { data } of follower.pages()) upsert(this.copy, data as unknown as Transaction[]);
    } catch (error) {
      // The client wraps errors that fetchPage throws.
      throw error instanceof NetworkError ? error.cause : error;
    }
  }
}

function readQuery(url: string): PageQuery {
  const parameters = Object.fromEntries(new URL(url).searchParams);
  return { ...parameters, limit: Number(parameters.limit) };
}

function printPage({ rows, cursor, completeThrough }: Page): Response {
  return Response.json({ data: rows, cursor }, { headers: { 'Complete-Through': completeThrough } });
}
