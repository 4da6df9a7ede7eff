// The field for the token that the API reference sends with requests. The sandbox fills it in; otherwise the reader does.

import { type PageToken, tokenProblem } from '../page-token.ts';

export function fillTokenField(page: Document, token: PageToken): void {
  const input = page.querySelector<HTMLInputElement>('#token');
  const complaint = page.querySelector('#token-problem');
  if (input === null || complaint === null) return;
  input.value = token.text ?? '';
  input.addEventListener('input', () => {
    const text = input.value.trim();
    const problem = text === '' ? undefined : tokenProblem(text);
    complaint.textContent = problem ?? '';
    if (text.startsWith('ob_prv_')) input.value = '';
    if (problem === undefined && text !== '') token.keep(text);
    else token.forget();
  });
}
