// The access token of this tab: the one the server has put into the page (the sandbox does), or one that the
// reader gave, kept until the tab is closed. Private tokens are refused before they get anywhere.

const KEY = 'offerbook.token';

export class PageToken {
  /** Whether the server gave it. */
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

/** What is wrong with a token before it is tried; undefined when nothing is. */
export function tokenProblem(text: string): string | undefined {
  if (text === '') return 'Enter a public token.';
  if (text.startsWith('ob_prv_')) {
    return 'This is a private token. It is for servers only and was neither kept nor sent. Use a public token, which starts with ob_pub_.';
  }
  return /^ob_pub_[0-9A-Za-z]+$/.test(text)
    ? undefined
    : 'A public token starts with ob_pub_ and goes on with letters and digits. Check that the whole token was copied.';
}
