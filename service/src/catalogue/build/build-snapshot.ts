// Reads the stored catalogue into a snapshot, a slice at a time, so that requests are served meanwhile.
// Documents are trusted: they were checked when they were imported.

import type { Clock } from '../../domain/clock.ts';
import { activePeriodMs, DEAL_LISTS } from '../../domain/deals.ts';
import type { CatalogueStore } from '../../domain/stores.ts';
import type { Timestamp } from '../../domain/timestamp.ts';
import { type DatedDeals, Snapshot } from '../snapshot.ts';
import { DealTableBuilder } from '../tables/deal-table.ts';
import { ListedRetailers } from '../tables/listed-retailers.ts';
import { type RetailerTable, RetailerTableBuilder } from '../tables/retailer-table.ts';
import { TextPool } from '../tables/text-pool.ts';
import { Timeline } from '../timeline.ts';
import { OfferIndexBuilder } from './offer-index-builder.ts';
import { Pacer } from './pacer.ts';
import { FieldFinder, forEachItem, type Span } from './printed-json.ts';

/** The snapshot is made ready for its first views, which will be asked for at about the clock's time. */
export async function buildSnapshot(store: Pick<CatalogueStore, 'read'>, clock: Clock): Promise<Snapshot> {
  const pacer = new Pacer();
  const builder = new SnapshotBuilder();
  const revision = await store.read(async (batch) => {
    for (const { document } of batch) {
      if (pacer.due) await pacer.pause();
      builder.add(document);
    }
  });
  return await builder.build(revision, clock(), pacer);
}

class SnapshotBuilder {
  readonly #pool = new TextPool();
  readonly #retailerFields = new FieldFinder('id', 'name', 'hostname', 'url', 'logo', ...DEAL_LISTS);
  readonly #offerFields = new FieldFinder('id', 'category', 'countries');
  readonly #datedDealFields = new FieldFinder('id', 'startDate', 'endDate');
  readonly #retailers = new RetailerTableBuilder(this.#pool);
  readonly #offers = new DealTableBuilder();
  readonly #offerIndex = new OfferIndexBuilder();
  readonly #coupons = new DatedDealsBuilder();
  readonly #promotions = new DatedDealsBuilder();

  /** Retailers come in the order of their ids. */
  add(document: string): void {
    const { chunk, begin } = this.#pool.add(document);
    const bytes = this.#pool.chunk(chunk);
    const text = ({ begin, end }: Readonly<Span>) => this.#pool.read(chunk, begin, end);
    const timestamp = ({ begin, end }: Readonly<Span>) =>
      this.#pool.read(chunk, begin + 1, end - 1) as Timestamp;

    this.#retailerFields.find(bytes, begin);
    const { cashbackOffers, coupons, promotions, ...fields } = this.#retailerFields.found;
    const retailer = this.#retailers.add(chunk, fields);
    this.#offerIndex.addRetailer(JSON.parse(text(fields.name)));

    forEachItem(bytes, cashbackOffers.begin, (begin) => {
      const end = this.#offerFields.find(bytes, begin);
      const { id, category, countries } = this.#offerFields.found;
      this.#offers.add(retailer, bytes, { begin, end }, id);
      this.#offerIndex.addOffer(text(category), text(countries));
      return end;
    });
    for (const [list, builder] of [
      [coupons, this.#coupons],
      [promotions, this.#promotions],
    ] as const) {
      forEachItem(bytes, list.begin, (begin) => {
        const end = this.#datedDealFields.find(bytes, begin);
        const { id, startDate, endDate } = this.#datedDealFields.found;
        const period = { startDate: timestamp(startDate), endDate: timestamp(endDate) };
        builder.add(retailer, bytes, { begin, end }, id, activePeriodMs(period));
        return end;
      });
    }
  }

  async build(revision: number, nowMs: number, pacer: Pacer): Promise<Snapshot> {
    const retailers = this.#retailers.build();
    const offers = await this.#offers.build(retailers, pacer);
    const offerIndex = await this.#offerIndex.build(offers, pacer);
    const coupons = await this.#coupons.build(retailers, nowMs, pacer);
    const promotions = await this.#promotions.build(retailers, nowMs, pacer);
    const listedRetailers = await ListedRetailers.build(
      {
        retailerCount: retailers.count,
        offers,
        coupons: { table: coupons.table, active: coupons.timeline.at(nowMs).active },
        promotions: { table: promotions.table, active: promotions.timeline.at(nowMs).active },
      },
      pacer,
    );
    return new Snapshot({ revision, retailers, offers, offerIndex, coupons, promotions, listedRetailers });
  }
}

class DatedDealsBuilder {
  readonly #table = new DealTableBuilder();
  readonly #fromMs: number[] = [];
  readonly #untilMs: number[] = [];

  add(
    retailer: number,
    bytes: Uint8Array,
    deal: Readonly<Span>,
    id: Readonly<Span>,
    { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
  ): void {
    this.#table.add(retailer, bytes, deal, id);
    this.#fromMs.push(fromMs);
    this.#untilMs.push(untilMs);
  }

  async build(retailers: RetailerTable, nowMs: number, pacer: Pacer): Promise<DatedDeals> {
    const table = await this.#table.build(retailers, pacer);
    const fromMs = new Float64Array(table.count);
    const untilMs = new Float64Array(table.count);
    await pacer.repeat(table.count, (rank) => {
      const slot = table.slots[rank] as number;
      fromMs[rank] = this.#fromMs[slot] as number;
      untilMs[rank] = this.#untilMs[slot] as number;
    });
    return { table, timeline: await Timeline.build({ fromMs, untilMs }, nowMs, pacer) };
  }
}
