// Builds the link that activates cashback and returns the user to the page of the shop.

import { BASE_URL, ORG_ID } from './config.js';

const PAGE_LENGTH_MAX = 2_048;

/**
 * The service accepts only https pages without a port as the target. The fragment stays in the browser: shops do not see it,
 * and neither should the service.
 * @param {string} retailerId
 * @param {string} userId
 * @param {string} page
 */
export function activationUrl(retailerId, userId, page) {
  const query = new URLSearchParams({ orgId: ORG_ID, passbackUid: userId });
  const target = new URL(page);
  target.hash = '';
  if (target.protocol === 'https:' && target.port === '' && target.href.length <= PAGE_LENGTH_MAX)
    query.set('to', target.href);
  return `${BASE_URL}/v1/retailers/${retailerId}/activate/?${query}`;
}
