// What activation keeps in memory of the database: the public ids of organisations, the links, and the key of the clicks.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../domain/stores.ts';
import { ClickIds } from './click-id.ts';

type Source = Pick<Stores, 'organisations' | 'links' | 'clickKey' | 'revisions'>;

/** Tells databases apart: what is spooled for one must not end up in another. Gives nothing away of the key. */
export function databaseName(clickKey: string): string {
  return Bun.SHA256.hash(clickKey, 'hex').slice(0, 12);
}

export class ActivationDirectory {
  /** Of what is in memory; undefined before the first refresh. */
  revision: number | undefined;
  /** Of the database: see `databaseName`. */
  name = '';
  readonly #source: Source;
  #organisations: ReadonlyMap<Uuid, number> = new Map();
  /** Of links, by the id of a retailer or a deal. */
  #templates: ReadonlyMap<Uuid, string> = new Map();
  #clickIds: ClickIds | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  async refresh(): Promise<void> {
    // First: what is committed while the rest is read moves it on, and is read again.
    const { activation: revision } = await this.#source.revisions();
    const organisations = await this.#source.organisations.list();
    const links = await this.#source.links.list();
    const key = await this.#source.clickKey();
    this.#clickIds ??= new ClickIds(key);
    this.name = databaseName(key);
    this.#organisations = new Map(organisations.map(({ publicId, id }) => [publicId, id]));
    this.#templates = new Map(links.map(({ id, template }) => [id, template]));
    this.revision = revision;
  }

  get clickIds(): ClickIds {
    if (this.#clickIds === undefined) throw new Error('the key of the clicks has not been read yet');
    return this.#clickIds;
  }

  /** The number of the organisation with this public id. */
  findOrganisation(publicId: Uuid): number | undefined {
    return this.#organisations.get(publicId);
  }

  /** The template of a deal, or else of its retailer. */
  findTemplate(dealId: Uuid, retailerId: Uuid): string | undefined {
    return this.#templates.get(dealId) ?? this.#templates.get(retailerId);
  }
}
