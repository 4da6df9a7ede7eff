// Dialog with the API's view of an item on the page: its id, the request as curl, and the actual response.

import { codeSample, requestApi } from '../api-response.ts';
import { button, element, isolated } from '../element.ts';
import { findToken } from '../page-token.ts';

export interface ApiSubject {
  /** Display name. */
  readonly name: string;
  readonly id: string;
  /** The list that contains the item. */
  readonly list: 'retailers' | 'cashback-offers' | 'coupons' | 'promotions';
}

/** Creates a button that opens the dialog. */
export function apiButton(subject: ApiSubject): HTMLButtonElement {
  return button('API', () => openDialog(subject), {
    class: 'api-button',
    'aria-label': `What the API returns for ${subject.name.slice(0, 60)}`,
    'aria-haspopup': 'dialog',
  });
}

function openDialog({ name, id, list }: ApiSubject): void {
  const path = `/v1/${list}/${id}/`;
  const curl = `curl -H "Authorization: Bearer ${findToken() ?? '$OFFERBOOK_PUBLIC_TOKEN'}" \\\n  '${location.origin}${path}'`;
  const answer = element('div.answer.stack', { role: 'status' }, element('p', `GET ${path} …`));
  const dialog = element(
    'dialog.api-dialog.panel.stack',
    { 'aria-labelledby': 'api-title' },
    element(
      'div.api-head.row.between',
      element('h2', { id: 'api-title' }, 'What the API returns for ', isolated(name)),
      button('Close', () => dialog.close(), { class: 'quiet' }),
    ),
    element('h3', 'Id'),
    codeSample('Copy the id', id),
    element('h3', 'Request'),
    codeSample('Copy the curl command', curl),
    element('h3', 'Response'),
    answer,
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  void requestApi(path, findToken() ?? '').then(({ nodes }) => answer.replaceChildren(...nodes));
}
