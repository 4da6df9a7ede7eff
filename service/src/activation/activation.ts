// Activates deals: finds the deal, records the click, and builds the URL to redirect the user to. Independent of HTTP.

import { PLACEHOLDER } from '@offerbook/wire/link-template.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { CatalogueEntry } from '../catalogue/snapshot.ts';
import { ApiError, unavailable } from '../domain/api-errors.ts';
import { type ActivatedKind, type Click, type ClickId, TAP_MS } from '../domain/click.ts';
import type { Clock } from '../domain/clock.ts';
import { boundedLog, type Logger } from '../domain/logger.ts';
import type { ActivationDirectory } from './activation-directory.ts';
import type { ClickOrigin } from './click-id.ts';
import type { ClickRecorder } from './click-recorder.ts';
import { type ClickOutcome, newClickTally } from './click-tally.ts';
import { ExpiringMap } from './expiring-map.ts';

export interface ActivationRequest {
  readonly kind: ActivatedKind;
  /** Undefined if the client sent a malformed id. */
  readonly id: Uuid | undefined;
  readonly orgId: Uuid;
  readonly passbackUid: string;
  readonly passbackData?: string | undefined;
  /** The page of the shop to redirect to. */
  readonly to?: URL | undefined;
  /** The client's network; stored only as a keyed digest. */
  readonly ipNetwork: string;
}

/** The retailer or deal to activate, and the user's organisation. */
export interface Activatable extends CatalogueEntry {
  readonly kind: ActivatedKind;
  readonly dealId: Uuid;
  readonly orgId: number;
}

interface ActivationParts {
  readonly directory: ActivationDirectory;
  readonly recorder: ClickRecorder;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a followed click stays in memory. */
const VISIT_KEPT_MS = 10_000;

export class Activation {
  readonly tally = newClickTally();
  readonly #parts: ActivationParts;
  /** Detects repeated taps on this node. The database detects taps that are repeated on another node. */
  readonly #taps = new ExpiringMap<Promise<ClickId>>(TAP_MS);
  /** Clicks whose links were visited recently, without passback values. Never write these copies to the database. */
  readonly #visited = new ExpiringMap<Click>(VISIT_KEPT_MS);
  readonly #logLost: ReturnType<typeof boundedLog>;

  constructor(parts: ActivationParts) {
    this.#parts = parts;
    this.#logLost = boundedLog((fields) =>
      parts.logger.error(fields, 'a click was lost: neither the database nor the spool accepted it'),
    );
  }

  /** Throws ApiError, without revealing whether the deal or the organisation is unknown. */
  find({ kind, id, orgId, to }: ActivationRequest): Activatable {
    this.#requireReady();
    const org = this.#parts.directory.findOrganisation(orgId);
    const entry = id === undefined ? undefined : this.#parts.catalogue.current.find(kind, id);
    if (org === undefined || id === undefined || entry === undefined) {
      throw new ApiError('deal_not_found', 'Unknown deal or organisation.');
    }
    return { ...arrivingAt(to, entry), kind, dealId: id, orgId: org };
  }

  /** In `follow` mode, the click also counts as followed. Returns no id if neither the database nor the spool accepts the click. */
  async activate(
    what: Activatable,
    { passbackUid, passbackData, to, ipNetwork }: ActivationRequest,
    mode: 'follow' | 'later',
  ) {
    const { directory, recorder, clock } = this.#parts;
    const nowMs = clock();
    const { orgId, kind, dealId, retailerId } = what;
    // The key includes the network. Otherwise, a stranger who repeats a user's request would get that user's click id, and
    // learn that the user has just clicked.
    const tapped = [mode, orgId, kind, dealId, passbackUid, passbackData, to?.href, ipNetwork];
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
      // Forget a failed tap, so a retry is recorded.
      recording.catch(() => this.#taps.delete(key, recording));
    }
    const activated = await recording.then(
      (id) => ({ id, outcome: id === click.id ? outcomeOf(click) : 'repeated' }) as const,
      (error) => {
        this.#logLost({ err: error });
        return { id: undefined, outcome: 'lost' } as const;
      },
    );
    this.tally[activated.outcome]++;
    return activated;
  }

  /** Returns the URL to redirect to: the operator's link with the click id, or the plain URL if there is no link. */
  targetOf({ dealId, retailerId, url }: Activatable, click: ClickId): string {
    const template = this.#parts.directory.findTemplate(dealId, retailerId);
    return template === undefined ? url : fillTemplate(template, click, url);
  }

  /** Parses a click id. Throws ApiError if this database did not issue it. */
  parseClick(text: string): ClickOrigin {
    this.#requireReady();
    const origin = this.#parts.directory.clickIds.parse(text);
    if (origin === undefined) throw new ApiError('deal_not_found', 'Unknown click.');
    return origin;
  }

  /** True if findClick() does not need the database, because the click's link was visited recently. */
  isRecent(id: ClickId): boolean {
    return this.#visited.find(id, this.#parts.clock()) !== undefined;
  }

  /** Returns a click with the catalogue entry of its deal, or of its retailer if the deal no longer exists. */
  async findClick(id: ClickId, to?: URL): Promise<{ click: Click; entry: CatalogueEntry }> {
    const { recorder, catalogue, clock } = this.#parts;
    const click = this.#visited.find(id, clock()) ?? (await recorder.find(id));
    const { current } = catalogue;
    const entry =
      click && (current.find(click.kind, click.dealId) ?? current.find('retailers', click.retailerId));
    if (click === undefined || entry === undefined)
      throw new ApiError('deal_gone', 'The deal and its retailer are no longer in the catalogue.');
    return { click, entry: arrivingAt(to, entry) };
  }

  /** Records the first time that a click is followed. Logs failures instead of throwing: the user must reach the shop. */
  async visit(click: Click): Promise<ClickOutcome> {
    const { recorder, clock } = this.#parts;
    const nowMs = clock();
    const visited = { ...click, clickedAtMs: click.clickedAtMs ?? nowMs };
    try {
      if (click.clickedAtMs === null) await recorder.record(visited);
    } catch (error) {
      this.#logLost({ err: error, click: click.id });
      return 'lost';
    }
    // Later visits do not extend the cache lifetime, so database changes take effect within seconds.
    if (this.#visited.find(click.id, nowMs) === undefined)
      this.#visited.add(click.id, nowMs, { ...visited, passbackUid: null, passbackData: null });
    return click.clickedAtMs === null ? outcomeOf(click) : 'repeated';
  }

  #requireReady(): void {
    const { catalogue, directory } = this.#parts;
    if (catalogue.snapshot === undefined || directory.revision === undefined)
      throw unavailable('The catalogue is still loading. Try again shortly.', 1);
  }
}

function outcomeOf({ isTracked }: Click): ClickOutcome {
  return isTracked ? 'tracked' : 'untracked';
}

/** Replaces both URLs with the page, because an inactive deal redirects to its retailer. */
function arrivingAt(page: URL | undefined, entry: CatalogueEntry): CatalogueEntry {
  if (page === undefined) return entry;
  const { retailerDomains: domains } = entry;
  if (!belongsTo(page, domains)) {
    const place =
      domains.length === 0
        ? 'is not supported for this retailer'
        : `must be a page on ${domains.join(' or ')}`;
    const error = { parameter: 'to', detail: place };
    throw new ApiError('invalid_parameter', `${error.parameter} ${error.detail}.`, { errors: [error] });
  }
  return { ...entry, url: page.href, retailerUrl: page.href };
}

/** The domains are in lower-case ASCII, like URL hosts. A mistake here would make the service an open redirect. */
function belongsTo({ hostname }: URL, domains: readonly string[]): boolean {
  return domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
}

/** Inserts a click into a link template. `url` is the shop page that the link finally redirects to. */
export function fillTemplate(template: string, click: ClickId, url: string): string {
  // A replacer function, because dollar signs are special in replacement strings.
  return template.replace(PLACEHOLDER, (placeholder) =>
    placeholder === '{click}' ? click : encodeURIComponent(url),
  );
}
