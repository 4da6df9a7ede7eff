// What Rakuten Advertising's words mean, and where its answers leave something open.
// They are from the network's own documents, but for those marked B or C: see "Corrections" in docs/feeds.md.

export const RAKUTEN = {
  /** `Sat Nov 14 2026 12:00:00 GMT+0000 (UTC)` */
  eventTime:
    /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{2}) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT([+-]\d{4})(?: \([^)]*\))?$/,
  /** Values of `is_event`: "Y" marks media-optimisation events, which never earn a commission. */
  events: { Y: true, N: false },
  error: { code: 'error', words: 'message' },
  paging: { metadata: '_metadata', links: '_links', next: 'next', page: 'page' },
  couponPaging: { page: 'PageNumberRequested', pages: 'TotalPages' },
  rateTypes: { percentage: true },
  activePartners: ['active'],
  /** C. Networks by number and by name. Answers name them in either way, or as `1 - United States`. */
  networks: new Map([
    ['1', 'US'],
    ['United States', 'US'],
    ['3', 'GB'],
    ['United Kingdom', 'GB'],
    ['5', 'CA'],
    ['Canada', 'CA'],
    ['7', 'FR'],
    ['France', 'FR'],
    ['8', 'DE'],
    ['Germany', 'DE'],
    ['9', 'AU'],
    ['Australia', 'AU'],
    ['41', 'BR'],
    ['Brazil', 'BR'],
  ]),
  /** C. Parameters of their links that hold the retailer's own address. */
  linkTargets: ['murl', 'u', 'RD_PARM1'],
} as const;
