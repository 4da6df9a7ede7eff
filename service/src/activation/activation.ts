// Activates deals: finds where a user is to go, records the click, and says where that is. It knows nothing of HTTP.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Catalogue, CatalogueEntry } from '../catalogue/catalogue.ts';
import { ApiError, unavailable } from '../domain/api-errors.ts';
import { BoundedLog } from '../domain/bounded-log.ts';
import { type ActivatedKind, type Click, type ClickId, TAP_MS } from '../domain/click.ts';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import type { ActivationDirectory } from './activation-directory.ts';
import type { ClickOrigin } from './click-id.ts';
import type { ClickRecorder } from './click-recorder.ts';
import { newClickTally } from './click-tally.ts';
import { fillTemplate } from './link-template.ts';
import { Recent } from './recent.ts';

export interface ActivationRequest {
  readonly kind: ActivatedKind;
  /** Undefined for what is no id. */
  readonly id: Uuid | undefined;
  readonly orgId: Uuid;
  readonly passbackUid: string;
  readonly passbackData?: string | undefined;
  /** The caller's network. Stored only as part of a digest under the database's key. */
  readonly network: string;
}

/** What a user activates, and for whom. */
export interface Activatable extends CatalogueEntry {
  readonly kind: ActivatedKind;
  readonly dealId: Uuid;
  readonly orgId: number;
}

interface ActivationParts {
  readonly directory: ActivationDirectory;
  readonly recorder: ClickRecorder;
  readonly catalogue: Pick<Catalogue, 'find' | 'ready'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a link that was followed is answered from memory. */
const VISIT_KEPT_MS = 10_000;

export class Activation {
  readonly tally = newClickTally();
  readonly #parts: ActivationParts;
  /** A second tap on a link is the same click. Taps on other nodes are found by the database. */
  readonly #taps = new Recent<Promise<ClickId>>(TAP_MS);
  /** Clicks that were followed, without what the partner passed along. Nothing is written from them. */
  readonly #visited = new Recent<Click>(VISIT_KEPT_MS);
  readonly #lostLog: BoundedLog;

  constructor(parts: ActivationParts) {
    this.#parts = parts;
    this.#lostLog = new BoundedLog((fields) =>
      parts.logger.error(fields, 'a click could be recorded nowhere'),
    );
  }

  /** Throws ApiError for what is not known here. The answer does not tell whether it was the deal or the organisation. */
  find({ kind, id, orgId }: ActivationRequest): Activatable {
    this.#requireReady();
    const org = this.#parts.directory.findOrganisation(orgId);
    const entry = id === undefined ? undefined : this.#parts.catalogue.find(kind, id);
    if (org === undefined || id === undefined || entry === undefined) {
      throw new ApiError('deal_not_found', 'Unknown deal or organisation.');
    }
    return { ...entry, kind, dealId: id, orgId: org };
  }

  /**
   * Records that a user has activated something, and with `follow` also that the user is on the way. Returns the id of the
   * click; undefined when it could be recorded nowhere.
   */
  async activate(
    what: Activatable,
    { passbackUid, passbackData, network }: ActivationRequest,
    mode: 'follow' | 'later',
  ): Promise<ClickId | undefined> {
    const { directory, recorder, clock } = this.#parts;
    const nowMs = clock();
    const { orgId, kind, dealId, retailerId } = what;
    // With the network: the same id for everyone would let strangers find out whether a user has just clicked.
    const tapped = [mode, orgId, kind, dealId, passbackUid, passbackData ?? null, network];
    const key = directory.clickIds.digest(JSON.stringify(tapped));
    const click: Click = {
      id: directory.clickIds.make(orgId, nowMs),
      orgId,
      kind,
      dealId,
      retailerId,
      passbackUid,
      passbackData: passbackData ?? null,
      activatedAtMs: nowMs,
      clickedAtMs: mode === 'follow' ? nowMs : null,
      isTracked: directory.findTemplate(dealId, retailerId) !== undefined,
    };
    const first = this.#taps.find(key, nowMs);
    const recording = first ?? recorder.record(click, key);
    if (first === undefined) {
      this.#taps.add(key, nowMs, recording);
      // The same tap after a failure is recorded.
      recording.catch(() => this.#taps.delete(key, recording));
    }
    try {
      const id = await recording;
      this.tally[id !== click.id ? 'repeated' : click.isTracked ? 'tracked' : 'untracked']++;
      return id;
    } catch (error) {
      this.tally.lost++;
      this.#lostLog.note({ err: error });
      return undefined;
    }
  }

  /** Where a user goes for a click. Without a link of the operator's, that is the plain URL. */
  targetOf(
    { dealId, retailerId, url }: Pick<Activatable, 'dealId' | 'retailerId' | 'url'>,
    click: ClickId,
  ): string {
    const template = this.#parts.directory.findTemplate(dealId, retailerId);
    return template === undefined ? url : fillTemplate(template, click, url);
  }

  /** The id in a link that an activation has returned. Throws ApiError if it is not one of ours. */
  parseClick(text: string): ClickOrigin & { readonly id: ClickId } {
    this.#requireReady();
    const origin = this.#parts.directory.clickIds.parse(text);
    if (origin === undefined) throw new ApiError('deal_not_found', 'There is no such link.');
    return origin;
  }

  /** True if the click was followed a moment ago: finding it takes no database. */
  isRecent(id: ClickId): boolean {
    return this.#visited.find(id, this.#parts.clock()) !== undefined;
  }

  /** A click, and where its link leads now. */
  async findClick(id: ClickId): Promise<{ click: Click; entry: CatalogueEntry }> {
    const { recorder, catalogue, clock } = this.#parts;
    const click = this.#visited.find(id, clock()) ?? (await recorder.find(id));
    const entry =
      click && (catalogue.find(click.kind, click.dealId) ?? catalogue.find('retailers', click.retailerId));
    if (click === undefined || entry === undefined)
      throw new ApiError('deal_gone', 'What this link led to is no longer there.');
    return { click, entry };
  }

  /** Records that a click was followed, if it is for the first time. The user arrives even if that fails. */
  async visit(click: Click): Promise<void> {
    const { recorder, clock } = this.#parts;
    const nowMs = clock();
    const visited = { ...click, clickedAtMs: click.clickedAtMs ?? nowMs };
    try {
      if (click.clickedAtMs === null) await recorder.record(visited);
    } catch (error) {
      this.#lostLog.note({ err: error, click: click.id });
      return;
    }
    // Not extended by later visits: what an operator changes in the database shows within seconds.
    if (this.#visited.find(click.id, nowMs) === undefined)
      this.#visited.add(click.id, nowMs, { ...visited, passbackUid: null, passbackData: null });
  }

  #requireReady(): void {
    const { catalogue, directory } = this.#parts;
    if (!catalogue.ready || directory.revision === undefined)
      throw unavailable('The catalogue is still loading. Try again shortly.', 1);
  }
}
