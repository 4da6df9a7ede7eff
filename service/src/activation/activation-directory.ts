// In-memory copy of the data that activation needs: the public ids of organisations, the activation links, and the key
// that authenticates click ids.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../domain/stores.ts';
import { ClickIds } from './click-id.ts';

type Source = Pick<Stores, 'organisations' | 'links' | 'clickKey' | 'revisions'>;

/** Identifies a database, so that clicks spooled for one never end up in another. Does not reveal the key. */
export function databaseName(clickKey: string): string {
  return Bun.SHA256.hash(clickKey, 'hex').slice(0, 12);
}

export class ActivationDirectory {
  /** Revision held in memory; undefined until the first refresh. */
  revision: number | undefined;
  /** The result of `databaseName`; empty until the first refresh. */
  name = '';
  readonly #source: Source;
  #organisations: ReadonlyMap<Uuid, number> = new Map();
  /** Link templates by the id of a retailer or deal. */
  #templates: ReadonlyMap<Uuid, string> = new Map();
  #clickIds: ClickIds | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  async refresh(): Promise<void> {
    // Read the revision first: a commit during the reads below increases it and triggers another refresh.
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
    if (this.#clickIds === undefined) throw new Error('clickIds is not available before the first refresh');
    return this.#clickIds;
  }

  /** Returns the internal id of the organisation with this public id. */
  findOrganisation(publicId: Uuid): number | undefined {
    return this.#organisations.get(publicId);
  }

  /** Returns the link template of a deal, or that of its retailer if the deal has none. */
  findTemplate(dealId: Uuid, retailerId: Uuid): string | undefined {
    return this.#templates.get(dealId) ?? this.#templates.get(retailerId);
  }
}
