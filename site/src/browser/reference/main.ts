// Adds search, section highlighting, live requests and copy buttons to the documentation. The pages are readable without
// this script.

import { copyButton } from '../copy-button.ts';
import { markCurrentSection, showCurrentPage } from './current-section.ts';
import { startSearch } from './search.ts';
import { fillTokenField } from './token-field.ts';
import { enableForm } from './try-it.ts';

/** Base URL in samples if the operator has not configured one; replaced with this page's origin. */
const SAMPLE_BASE_URL = /http:\/\/localhost:\d+/g;

startSearch();
showCurrentPage();
markCurrentSection();
fillTokenField();
for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) enableForm(form);

for (const code of document.querySelectorAll<HTMLElement>('.sample code')) {
  // Change only the text nodes, to keep the elements that colour them.
  const nodes = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    const { currentNode } = nodes;
    currentNode.nodeValue = (currentNode.nodeValue ?? '').replaceAll(SAMPLE_BASE_URL, location.origin);
  }
  const language = code.dataset.language ?? 'code';
  code.closest('.sample')?.append(copyButton(`Copy the ${language}`, code.textContent ?? '', code));
}

// Selecting a language for one sample selects it for the whole page.
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset.language === undefined) return;
  for (const other of document.querySelectorAll<HTMLInputElement>('input[data-language]')) {
    // A sample without this language keeps its current one.
    if (other.dataset.language === target.dataset.language) other.checked = true;
  }
});
