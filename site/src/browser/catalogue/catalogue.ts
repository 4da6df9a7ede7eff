// Loads retailers from the API page by page. The first page is small, so that readers with a slow connection see some
// retailers soon. After a failure the loaded retailers remain, and load() resumes where it stopped.

import { ApiError, type OfferbookClient, type Retailer } from '@offerbook/client';

/** As many retailers as the list shows at first. */
const FIRST_PAGE = 60;
const NEXT_PAGES = 1_000;
/** After this time, the list shows the retailers loaded so far. Showing them at once would move most of them moments later. */
const SLOW_MS = 1_000;
/** Loading pauses after this many retailers until the reader asks for more, to limit the page's memory use. */
const RETAILERS_AT_ONCE = 5_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type LoadState =
  | { readonly kind: 'waiting' | 'loading' | 'paused' | 'complete' }
  | { readonly kind: 'failed'; readonly error: unknown };

export class Catalogue {
  readonly #client: OfferbookClient;
  readonly #onChange: () => void;
  #retailers: readonly Retailer[] = [];
  #state: LoadState = { kind: 'waiting' };
  #cursor: string | undefined;
  #isSlow = false;

  constructor(client: OfferbookClient, onChange: () => void) {
    this.#client = client;
    this.#onChange = onChange;
  }

  get retailers(): readonly Retailer[] {
    return this.#retailers;
  }

  /** True once loading has taken so long that the list shows the retailers loaded so far. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  get state(): LoadState {
    return this.#state;
  }

  /** Loads the next retailers, up to the end or the next pause. Does nothing while loading. */
  async load(): Promise<void> {
    if (this.#state.kind === 'loading' || this.#state.kind === 'complete') return;
    this.#become({ kind: 'loading' });
    const timer = setTimeout(() => {
      this.#isSlow = true;
      this.#onChange();
    }, SLOW_MS);
    const stopAt = this.#retailers.length + RETAILERS_AT_ONCE;
    try {
      do {
        const limit = this.#cursor === undefined ? FIRST_PAGE : NEXT_PAGES;
        const page = await this.#client.retailers({ limit, cursor: this.#cursor });
        this.#retailers = [...this.#retailers, ...page.data];
        this.#cursor = page.cursor;
        if (this.#cursor === undefined) return this.#become({ kind: 'complete' });
        this.#onChange();
      } while (this.#retailers.length < stopAt);
      this.#become({ kind: 'paused' });
    } catch (error) {
      this.#become({ kind: 'failed', error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Fetches one retailer without loading those before it. */
  async find(id: string): Promise<Retailer | undefined> {
    const loaded = this.#retailers.find((retailer) => retailer.id === id);
    if (loaded !== undefined || this.#state.kind === 'complete' || !UUID.test(id)) return loaded;
    try {
      return await this.#client.retailers.get(id);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  #become(state: LoadState): void {
    this.#state = state;
    this.#onChange();
  }
}
