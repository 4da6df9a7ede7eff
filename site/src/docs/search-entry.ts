// One entry of the documentation's search index. The browser script reads the same type.

export interface SearchEntry {
  readonly url: string;
  /** Title of the page. */
  readonly page: string;
  /** Heading of the section. */
  readonly heading: string;
  readonly text: string;
}
