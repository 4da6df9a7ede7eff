// Meaning of Rakuten Advertising's words, and our reading of what its documentation leaves open. From the network's
// documentation, except for entries marked B or C: see "Corrections" in docs/feeds.md.

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
  /** C. Networks by number and by name. Responses use either, or `1 - United States`. */
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
  /** C. Parameters of Rakuten's links that contain the retailer's URL. */
  linkTargets: ['murl', 'u', 'RD_PARM1'],
} as const;
