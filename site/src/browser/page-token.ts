// The access token of this tab: put into the page by the server, as the sandbox does, or entered by the reader and kept
// until the tab is closed. Private tokens are rejected before they are stored or sent.

const KEY = 'offerbook.token';

export class PageToken {
  /** True if the server put the token into the page. */
  readonly given: boolean;
  readonly #storage: Storage;
  #text: string | undefined;

  constructor(page: Document, storage: Storage) {
    const meta = page.querySelector<HTMLMetaElement>('meta[name="offerbook-token"]');
    this.given = meta !== null;
    this.#storage = storage;
    this.#text = meta?.content ?? storage.getItem(KEY) ?? undefined;
  }

  get text(): string | undefined {
    return this.#text;
  }

  keep(text: string): void {
    this.#storage.setItem(KEY, text);
    this.#text = text;
  }

  forget(): void {
    this.#storage.removeItem(KEY);
    this.#text = undefined;
  }
}

/** Returns what is wrong with the format of a token; undefined if it is valid. */
export function tokenProblem(text: string): string | undefined {
  if (text === '') return 'Enter a public token.';
  if (text.startsWith('ob_prv_')) {
    return 'This is a private token, for servers only. It was neither stored nor sent. Use a public token, which starts with ob_pub_.';
  }
  return /^ob_pub_[0-9A-Za-z]+$/.test(text)
    ? undefined
    : 'A public token is ob_pub_ followed by letters and digits. Check that you copied all of it.';
}
