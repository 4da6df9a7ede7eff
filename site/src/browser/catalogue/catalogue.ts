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

export type Catalogue = ReturnType<typeof openCatalogue>;

export function openCatalogue(client: OfferbookClient, onChange: () => void) {
  const loaded = {
    retailers: [] as readonly Retailer[],
    state: { kind: 'waiting' } as LoadState,
    /** True once loading has taken so long that the list shows the retailers loaded so far. */
    isSlow: false,
  };
  let cursor: string | undefined;

  function become(state: LoadState): void {
    loaded.state = state;
    onChange();
  }

  return {
    loaded: loaded as Readonly<typeof loaded>,
    /** Loads the next retailers, up to the end or the next pause. Does nothing while loading. */
    async load(): Promise<void> {
      if (loaded.state.kind === 'loading' || loaded.state.kind === 'complete') return;
      become({ kind: 'loading' });
      const timer = setTimeout(() => {
        loaded.isSlow = true;
        onChange();
      }, SLOW_MS);
      const stopAt = loaded.retailers.length + RETAILERS_AT_ONCE;
      try {
        do {
          const limit = cursor === undefined ? FIRST_PAGE : NEXT_PAGES;
          const page = await client.retailers({ limit, cursor });
          loaded.retailers = [...loaded.retailers, ...page.data];
          cursor = page.cursor;
          if (cursor === undefined) return become({ kind: 'complete' });
          onChange();
        } while (loaded.retailers.length < stopAt);
        become({ kind: 'paused' });
      } catch (error) {
        become({ kind: 'failed', error });
      } finally {
        clearTimeout(timer);
      }
    },
    /** Fetches one retailer without loading those before it. */
    async find(id: string): Promise<Retailer | undefined> {
      const known = loaded.retailers.find((retailer) => retailer.id === id);
      if (known !== undefined || loaded.state.kind === 'complete' || !UUID.test(id)) return known;
      try {
        return await client.retailers.get(id);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
  };
}
