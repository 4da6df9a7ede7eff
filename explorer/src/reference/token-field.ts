// The field for the token with which the reference sends its requests: filled in by the sandbox, else by the
// reader.

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
