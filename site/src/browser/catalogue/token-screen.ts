// Asks for a public token. Shown if the server has not put a token into the page, or has rejected the reader's token.

import { codeBlock, element } from '../element.ts';
import { tokenProblem } from '../page-token.ts';

export function tokenScreen(problem: string | undefined, onToken: (token: string) => void): HTMLElement {
  const input = element('input', {
    id: 'token',
    type: 'text',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    placeholder: 'ob_pub_…',
    'aria-describedby': 'token-problem token-help',
  });
  const submit = element('button', { type: 'submit', class: 'primary' }, 'Show the catalogue');
  const shownProblem = element('p', { id: 'token-problem', class: 'problem', role: 'alert' }, problem);
  const help = 'The token stays in this tab and is forgotten when you close it.';
  const form = element(
    'form.token.stack',
    { novalidate: true },
    element('label', { for: 'token' }, 'Public token'),
    element('div.row', input, submit),
    shownProblem,
    element('p', { id: 'token-help', class: 'muted' }, help),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const token = input.value.trim();
    const problem = tokenProblem(token);
    if (problem === undefined) return onToken(token);
    if (token.startsWith('ob_prv_')) input.value = '';
    shownProblem.textContent = problem;
    input.focus();
  });
  return element(
    'div.screen.narrow',
    element('h1', { tabindex: -1 }, 'See the catalogue'),
    element(
      'p.lead',
      'This page reads the API like any other client, so it needs a public token. The operator of this service issues tokens with:',
    ),
    codeBlock('offerbook tokens issue --org NAME --kind public'),
    form,
  );
}

/** Shown if the server rejects the token that it put into the page, which happens after a restart. */
export function staleScreen(): HTMLElement {
  return element(
    'div.screen.narrow',
    element(
      'div.notice',
      { role: 'alert' },
      element('h1', { tabindex: -1 }, 'This page is out of date'),
      element('p', 'The server no longer accepts the token in this page, probably because it was restarted.'),
      element('a.button.primary', { href: '' }, 'Reload the page'),
    ),
  );
}
