// The field for the token that the API reference sends with requests. The sandbox fills it in; otherwise the reader does.

import { findToken, forgetToken, storeToken, tokenProblem } from '../page-token.ts';

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
