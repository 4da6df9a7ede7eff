// In-memory copy of the data that activation needs: the organisations' public ids, the activation links, and the key that
// authenticates click ids.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../domain/stores.ts';
import { ClickIds } from './click-id.ts';

/** Short name of a database, used in spool file names. Does not reveal the key. */
export function databaseName(clickKey: string): string {
  return Bun.SHA256.hash(clickKey, 'hex').slice(0, 12);
}

export class ActivationDirectory {
  /** Revision held in memory; undefined until the first refresh. */
  revision: number | undefined;
  /** See databaseName(); empty until the first refresh. */
  name = '';
  readonly #stores: Stores;
  #organisations: ReadonlyMap<Uuid, number> = new Map();
  /** Link templates by retailer or deal id. */
  #templates: ReadonlyMap<Uuid, string> = new Map();
  #clickIds: ClickIds | undefined;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  async refresh(): Promise<void> {
    // Read the revision first: a commit during the reads below increases it and triggers another refresh.
    const { activation: revision } = await this.#stores.revisions();
    const organisations = await this.#stores.organisations.list();
    const links = await this.#stores.links.list();
    const key = await this.#stores.clickKey();
    this.#clickIds ??= new ClickIds(key);
    this.name = databaseName(key);
    this.#organisations = new Map(organisations.map(({ publicId, id }) => [publicId, id]));
    this.#templates = new Map(links.map(({ id, template }) => [id, template]));
    this.revision = revision;
  }

  get clickIds(): ClickIds {
    if (this.#clickIds === undefined) throw new Error('clickIds is not available before the first refresh');
    return this.#clickIds;
  }

  /** Returns the organisation's internal id. */
  findOrganisation(publicId: Uuid): number | undefined {
    return this.#organisations.get(publicId);
  }

  /** Returns the deal's link template, or its retailer's if the deal has none. */
  findTemplate(dealId: Uuid, retailerId: Uuid): string | undefined {
    return this.#templates.get(dealId) ?? this.#templates.get(retailerId);
  }
}
