// Sends the request described by a form, and shows the response with a button for the next page. Only catalogue operations
// have such a form, so private tokens never get here.

import { requestApi } from '../api-response.ts';
import { button, element } from '../element.ts';
import type { PageToken } from '../page-token.ts';

export class TryIt {
  readonly #form: HTMLFormElement;
  readonly #token: PageToken;
  readonly #answer: HTMLElement;

  constructor(form: HTMLFormElement, token: PageToken) {
    this.#form = form;
    this.#token = token;
    this.#answer = element('div', { class: 'answer', role: 'status' });
    form.append(this.#answer);
    form.hidden = false;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    const token = this.#token.text;
    if (token === undefined) {
      document.querySelector<HTMLInputElement>('#token')?.focus();
      this.#answer.replaceChildren(element('p', {}, 'Enter a public token first.'));
      return;
    }
    const url = this.#url();
    this.#answer.replaceChildren(element('p', {}, `GET ${url} …`));
    const { nodes, cursor } = await requestApi(url, token);
    this.#answer.replaceChildren(...nodes, ...(cursor === undefined ? [] : [this.#nextPage(cursor)]));
  }

  #nextPage(cursor: string): HTMLElement {
    return button('Next page', () => {
      const field = this.#form.querySelector<HTMLInputElement>('input[name="cursor"]');
      if (field !== null) field.value = cursor;
      void this.#send();
    });
  }

  #url(): string {
    const query = new URLSearchParams();
    for (const input of this.#form.querySelectorAll<HTMLInputElement>('input[name]')) {
      if (input.value.trim() !== '') query.set(input.name, input.value.trim());
    }
    const path = this.#form.dataset.path ?? '/';
    const printed = query.toString();
    return printed === '' ? path : `${path}?${printed}`;
  }
}
