// A picture of a transaction's life, from the click to the payment. The style sheet draws the arrows.

import { type Html, html } from '../html.ts';

const STAGES = [
  ['Click', 'Your user activates a deal', ''],
  ['Purchase', 'The user buys at the shop', ''],
  ['Report', 'The network reports the sale', ''],
  ['PENDING', 'Show the expected cashback', 'pending'],
  ['CONFIRMED', 'Pay the cashback', 'confirmed'],
  ['DECLINED', 'Pay nothing', 'declined'],
];

const DESCRIPTION =
  'Your user activates a deal and buys at the shop. The affiliate network reports the sale, and your next poll returns it as PENDING. Later it becomes CONFIRMED, and you pay the cashback, or DECLINED, and you pay nothing.';

export function transactionPicture(): Html {
  const stages = STAGES.map(
    ([title, text, status]) => html`<li class="stage panel ${status}"><strong>${title}</strong>${text}</li>`,
  );
  return html`<figure class="stack"><ol class="stages">${stages}</ol><figcaption class="muted">${DESCRIPTION}</figcaption></figure>`;
}
