// The values that you have to change. BASE_URL must also be in the Content-Security-Policy in manifest.json.

/** URL of the Offerbook service, without a trailing slash. */
export const BASE_URL = 'http://localhost:8080';

/** A public token. Users of an extension can read its files, so never use a private token. */
export const PUBLIC_TOKEN = 'ob_pub_…';

/** Your organisation's public id. */
export const ORG_ID = '…';

/** Currency of fixed cashback; ask the operator. */
export const CURRENCY = 'EUR';
