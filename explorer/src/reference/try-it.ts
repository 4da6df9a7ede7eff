// Sends the request that a form describes and shows the answer: status, time, headers, body. The form holds
// an operation of the catalogue; private tokens never get here.

import { element } from '../element.ts';
import type { PageToken } from '../page-token.ts';

/** A body beyond this is cut off: a page with a million lines helps nobody. */
const BODY_SHOWN_MAX = 40_000;

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
      this.#show('Enter a public token first.');
      return;
    }
    const url = this.#url();
    this.#show(`GET ${url} …`);
    const startedAtMs = performance.now();
    try {
      const response = await fetch(url, {
        headers: { Authorization: `Bearer ${token}` },
        credentials: 'omit',
      });
      const text = await response.text();
      this.#showAnswer(url, response, text, performance.now() - startedAtMs);
    } catch {
      this.#show('No answer. Is the service running?');
    }
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

  #show(...words: (string | Node)[]): void {
    this.#answer.replaceChildren(
      ...words.map((one) => (typeof one === 'string' ? element('p', {}, one) : one)),
    );
  }

  #showAnswer(url: string, response: Response, text: string, tookMs: number): void {
    const { status, headers } = response;
    const shownHeaders = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    this.#show(
      element(
        'p',
        {},
        element('strong', { class: response.ok ? 'good' : 'bad' }, String(status)),
        ` in ${Math.round(tookMs)} ms · `,
        element('code', {}, url),
      ),
      element('details', {}, element('summary', {}, 'Headers'), pre(shownHeaders)),
      pre(pretty(text)),
    );
  }
}

function pre(text: string): HTMLElement {
  const shown =
    text.length > BODY_SHOWN_MAX
      ? `${text.slice(0, BODY_SHOWN_MAX)}\n… ${text.length - BODY_SHOWN_MAX} more characters`
      : text;
  return element('pre', { tabindex: 0 }, element('code', {}, shown));
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
