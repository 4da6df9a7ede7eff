// Rakuten Advertising's terms, and our interpretation of points that its documentation leaves open. Entries marked B or C are
// not from the network's documentation: see "Corrections" in docs/feeds.md.

export const RAKUTEN = {
  /** `Sat Nov 14 2026 12:00:00 GMT+0000 (UTC)` */
  eventTime:
    /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{2}) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT([+-]\d{4})(?: \([^)]*\))?$/,
  /** Values of `is_event`: "Y" marks media-optimisation events, which never earn a commission. */
  events: { Y: true, N: false },
  rateTypes: { percentage: true },
  activePartners: ['active'],
  /** C. Countries of Rakuten's networks. Responses have the number, the name, or both: `1 - United States`. */
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
