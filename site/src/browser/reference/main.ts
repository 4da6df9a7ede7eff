// Adds search, section highlighting, live requests, copy buttons and syntax highlighting to the documentation. The pages
// are readable without this script.

import { copyButton } from '../copy-button.ts';
import { colouredJson } from '../json-colours.ts';
import { markCurrentSection } from './current-section.ts';
import { startSearch } from './search.ts';
import { fillTokenField } from './token-field.ts';
import { enableForm } from './try-it.ts';

/** Base URL in samples if the operator has not configured one; replaced with this page's origin. */
const SAMPLE_BASE_URL = /http:\/\/localhost:\d+/g;

startSearch();
markCurrentSection();
fillTokenField();
for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) enableForm(form);

for (const code of document.querySelectorAll<HTMLElement>('.sample code')) {
  const text = (code.textContent ?? '').replaceAll(SAMPLE_BASE_URL, location.origin);
  code.textContent = text;
  const language = code.dataset.language ?? 'code';
  code.closest('.sample')?.append(copyButton(`Copy the ${language}`, text, code));
}

for (const code of document.querySelectorAll<HTMLElement>('code[data-language="json"]')) {
  code.replaceChildren(...colouredJson(code.textContent ?? ''));
}

// Selecting a language for one sample selects it for the whole page.
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset.language === undefined) return;
  for (const other of document.querySelectorAll<HTMLInputElement>('input[data-language]')) {
    // A sample without this language keeps its current one.
    if (other.dataset.language === target.dataset.language) other.checked = true;
  }
});
