// An entry in the documentation's search index, which the browser script reads.

export interface SearchEntry {
  readonly url: string;
  /** Title of the page. */
  readonly page: string;
  /** Heading of the section. */
  readonly heading: string;
  readonly text: string;
}
