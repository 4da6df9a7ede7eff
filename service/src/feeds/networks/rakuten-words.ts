// What Rakuten Advertising's words mean, and where its answers leave something open.

import { fact } from './fact.ts';

export const RAKUTEN = {
  /** `Sat Nov 14 2026 12:00:00 GMT+0000 (UTC)` */
  eventTime: fact(
    'A',
    /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{2}) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT([+-]\d{4})(?: \([^)]*\))?$/,
  ),
  error: fact('A', { code: 'error', words: 'message' }),
  paging: fact('A', { metadata: '_metadata', links: '_links', next: 'next', page: 'page' }),
  couponPaging: fact('A', { page: 'PageNumberRequested', pages: 'TotalPages' }),
  rateTypes: fact('A', { percentage: true }),
  activePartner: fact('A', { active: true }),
  /** Networks by number and by name. Answers name them in either way, or as `1 - United States`. */
  networks: fact('C', {
    '1': 'US',
    'United States': 'US',
    '3': 'GB',
    'United Kingdom': 'GB',
    '5': 'CA',
    Canada: 'CA',
    '7': 'FR',
    France: 'FR',
    '8': 'DE',
    Germany: 'DE',
    '9': 'AU',
    Australia: 'AU',
    '41': 'BR',
    Brazil: 'BR',
  }),
  /** Parameters of their links that hold the retailer's own address. */
  linkTargets: fact('C', ['murl', 'u', 'RD_PARM1']),
} as const;
