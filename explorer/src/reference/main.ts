// Brings the documentation to life: the search, the section that is read, the token, requests that are really sent, code to
// copy and in colours. The pages read well without it.

import { copyButton } from '../copy-button.ts';
import { colouredJson } from '../json-colours.ts';
import { PageToken } from '../page-token.ts';
import { markCurrentSection } from './current-section.ts';
import { startSearch } from './search.ts';
import { fillTokenField } from './token-field.ts';
import { TryIt } from './try-it.ts';

/** What the samples call where the operator has not said how callers reach this server: under the address of this page. */
const SAMPLE_BASE_URL = 'http://localhost:8080';

startSearch(document);
markCurrentSection(document);

const token = new PageToken(document, sessionStorage);
fillTokenField(document, token);
for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) new TryIt(form, token);

for (const code of document.querySelectorAll<HTMLElement>('.sample code')) {
  const text = (code.textContent ?? '').replaceAll(SAMPLE_BASE_URL, location.origin);
  code.textContent = text;
  const language = code.dataset.language ?? 'code';
  code.closest('.sample')?.append(copyButton('Copy', `Copy the ${language}`, () => text, code));
}

for (const code of document.querySelectorAll<HTMLElement>('code[data-language="json"]')) {
  code.replaceChildren(...colouredJson(code.textContent ?? ''));
}

// One language for the whole page: whoever reads Python for one operation does so for all.
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset.language === undefined) return;
  for (const other of document.querySelectorAll<HTMLInputElement>('input[data-language]')) {
    // What does not have this language stays with its own.
    if (other.dataset.language === target.dataset.language) other.checked = true;
  }
});
