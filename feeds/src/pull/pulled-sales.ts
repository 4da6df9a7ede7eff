// Converts the responses of one walk to rows for the import. A response may be added again, for example if its end was missing
// the first time: rows that were read later replace those that were read before.

import { type ConvertOptions, ConvertRun, type RowSpool } from '../convert-run.ts';
import type { SaleFeed } from '../network.ts';
import { type PullRules, TransactionConversion } from '../transactions/convert-transactions.ts';
import type { TransactionRules } from '../transactions/to-transaction.ts';
import { type PulledPage, readPage } from './pulled-page.ts';
import type { SalePull } from './sale-pull.ts';

export class PulledSales extends TransactionConversion {
  readonly #pull: SalePull;

  constructor(
    pull: SalePull,
    feed: SaleFeed,
    rules: TransactionRules,
    spool: RowSpool,
    options: ConvertOptions & PullRules,
  ) {
    super(new ConvertRun([], options), feed, rules, spool, options);
    this.#pull = pull;
  }

  get rowCount(): number {
    return this.run.counts.read;
  }

  /** Throws BrokenFile if the response is truncated or is not the expected document. */
  async addPage(
    file: string,
    body: AsyncIterable<Uint8Array>,
    header: PulledPage['header'],
  ): Promise<PulledPage> {
    const page = await readPage(body, header, this.feed.shape, this.#pull, async (rows) => {
      for (const row of rows) this.add(row, { ...row.place, file });
      this.run.counts.read += rows.length;
      await this.spool.flush();
    });
    return page ?? { rowCount: 0, response: undefined, info: {}, header };
  }
}
