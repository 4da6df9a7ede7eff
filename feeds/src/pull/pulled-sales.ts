// Converts the responses of one walk to rows for the import. A response may be added again, for example if its end was missing
// the first time: rows that were read later replace those that were read before.

import type { ConvertOptions, ConvertReport, RowSpool } from '../convert-report.ts';
import { ConvertRun } from '../convert-run.ts';
import type { Fields } from '../fields.ts';
import { readFeed } from '../formats/read-feed.ts';
import type { SaleFeed } from '../network.ts';
import { type PullRules, TransactionConversion } from '../transactions/convert-transactions.ts';
import type { TransactionRules } from '../transactions/to-transaction.ts';
import { type PulledPage, peekNothing, type SalePull } from './sale-pull.ts';
import { NetworkError, unexpected } from './unexpected.ts';

export class PulledSales {
  readonly #pull: SalePull;
  readonly #feed: SaleFeed;
  readonly #spool: RowSpool;
  readonly #run: ConvertRun;
  readonly #conversion: TransactionConversion;

  constructor(
    pull: SalePull,
    feed: SaleFeed,
    rules: TransactionRules,
    spool: RowSpool,
    options: ConvertOptions & PullRules,
  ) {
    this.#pull = pull;
    this.#feed = feed;
    this.#spool = spool;
    this.#run = new ConvertRun([], options);
    this.#conversion = new TransactionConversion(this.#run, feed, rules, spool, options);
  }

  get rowCount(): number {
    return this.#run.counts.read;
  }

  get saleIds(): string[] {
    return this.#conversion.saleIds;
  }

  /** See TransactionConversion. */
  addEarlier(row: unknown): void {
    this.#conversion.addEarlier(row);
  }

  /** Throws BrokenFile if the response is truncated or is not the expected document. */
  async add(
    name: string,
    body: AsyncIterable<Uint8Array>,
    header: PulledPage['header'],
  ): Promise<PulledPage> {
    const { isEmpty, all } = await peekNothing(body, this.#pull);
    if (isEmpty) return { rowCount: 0, response: undefined, header };
    const { shape } = this.#feed;
    let response: Fields | undefined;
    const readPageInfo = (fields: Fields) => {
      response = fields;
      const info = shape.readPageInfo?.(fields) ?? {};
      if (info.error !== undefined && this.#pull.errorsAreFinal === true) throw new NetworkError(info.error);
      return info;
    };
    let rowCount = 0;
    for await (const rows of readFeed(all, { ...shape, readPageInfo }, () => {})) {
      for (const row of rows) {
        // An object that is not in a list is not a row here, but a document that the network should not send.
        if (row.place.item === undefined) throw unexpected();
        rowCount++;
        this.#conversion.add(row, { ...row.place, file: name });
      }
      this.#run.counts.read += rows.length;
      await this.#spool.flush();
    }
    if (response === undefined && (shape.json?.length ?? 0) > 0) throw unexpected();
    return { rowCount, response, header };
  }

  finish(): Promise<ConvertReport> {
    return this.#conversion.finish();
  }
}
