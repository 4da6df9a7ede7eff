// Sends the request described by a form, and shows the response with a button for the next page. Only operations that need no
// private token have such a form.

import { requestApi } from '../api-response.ts';
import { button, element } from '../element.ts';
import { findToken, forgetToken, storeToken, tokenProblem } from '../page-token.ts';

/** The field for the token that all forms send. The sandbox fills it in; otherwise the reader does. */
export function fillTokenField(onChange: () => void): void {
  const input = document.querySelector<HTMLInputElement>('#token');
  const shownProblem = document.querySelector('#token-problem');
  if (input === null || shownProblem === null) return;
  input.value = findToken() ?? '';
  input.addEventListener('input', () => {
    const token = input.value.trim();
    const problem = token === '' ? undefined : tokenProblem(token);
    shownProblem.textContent = problem ?? '';
    if (token.startsWith('ob_prv_')) input.value = '';
    if (problem === undefined && token !== '') storeToken(token);
    else forgetToken();
    onChange();
  });
}

export function enableForm(form: HTMLFormElement): void {
  const answer = element('div.answer.stack', { role: 'status' });
  form.append(answer);
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send();
  });

  async function send(): Promise<void> {
    const token = findToken();
    if (token === undefined) {
      document.querySelector<HTMLInputElement>('#token')?.focus();
      answer.replaceChildren(element('p', 'Enter a public token first.'));
      return;
    }
    const { method = 'GET' } = form.dataset;
    if (method === 'POST') await fillId(form, token);
    const url = urlOf(form);
    answer.replaceChildren(element('p', `${method} ${url} …`));
    const { nodes, body } = await requestApi(url, token, method);
    answer.replaceChildren(...nodes);
    const cursor = body?.cursor;
    if (cursor !== undefined) answer.append(button('Next page', () => sendNext(cursor)));
  }

  function sendNext(cursor: string): void {
    const field = form.querySelector<HTMLInputElement>('input[name="cursor"]');
    if (field !== null) field.value = cursor;
    void send();
  }
}

/** If the reader has not given a deal to activate, fills in the first one of the list, if there is one. */
async function fillId(form: HTMLFormElement, token: string): Promise<void> {
  const field = form.querySelector<HTMLInputElement>('input[name="id"]');
  if (field === null || field.value.trim() !== '') return;
  const list = `${form.dataset.path}`.replace(/\{id\}.*/, '?limit=1');
  const { body } = await requestApi(list, token);
  // Without an id, the request reports what is wrong.
  field.value = body?.data?.[0]?.id ?? '';
}

function urlOf(form: HTMLFormElement): string {
  const query = new URLSearchParams();
  let path = `${form.dataset.path}`;
  for (const { name, value } of form.querySelectorAll<HTMLInputElement>('input[name]')) {
    const given = value.trim();
    if (given === '') continue;
    if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, encodeURIComponent(given));
    else query.set(name, given);
  }
  const printed = query.toString();
  return printed === '' ? path : `${path}?${printed}`;
}
