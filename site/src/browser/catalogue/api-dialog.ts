// Dialog with the API's view of an item on the page: its id, the request as curl, and the actual response.

import { requestApi } from '../api-response.ts';
import { copyButton } from '../copy-button.ts';
import { button, codeBlock, element, isolated } from '../element.ts';
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
  const curl = `curl -H "Authorization: Bearer $OFFERBOOK_PUBLIC_TOKEN" \\\n  '${location.origin}${path}'`;
  const answer = element('div', { class: 'answer stack', role: 'status' }, element('p', {}, `GET ${path} …`));
  const dialog = element(
    'dialog',
    { class: 'api-dialog panel stack', 'aria-labelledby': 'api-title' },
    element(
      'div',
      { class: 'api-head row' },
      element('h2', { id: 'api-title' }, 'What the API returns for ', isolated(name)),
      button('Close', () => dialog.close(), { class: 'quiet' }),
    ),
    element('h3', {}, 'Id'),
    sample(id, 'Copy the id'),
    element('h3', {}, 'Request'),
    sample(curl, 'Copy the curl command'),
    element('h3', {}, 'Response'),
    answer,
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  void requestApi(path, findToken() ?? '').then(({ nodes }) => answer.replaceChildren(...nodes));
}

function sample(text: string, description: string): HTMLElement {
  const code = codeBlock(text);
  return element('div', { class: 'sample' }, code, copyButton(description, text, code));
}
