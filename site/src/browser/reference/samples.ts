// Samples in the documentation: they get this page's origin, the reader's token and copy buttons, and all show the same language.

import { colouredNodes } from '../api-response.ts';
import { copyButton } from '../copy-button.ts';
import { SETTINGS } from '../page-settings.ts';
import { findToken } from '../page-token.ts';
import { withVariable } from './with-variable.ts';

/** Base URL in samples if the operator has not configured one; replaced with this page's origin. */
const SAMPLE_BASE_URL = /http:\/\/localhost:\d+/g;

/** Returns a function that shows the current token in all samples. */
export function enableSamples(): () => void {
  const samples = [...document.querySelectorAll<HTMLElement>('.sample code')].map((code) => {
    const language = code.dataset.language ?? 'code';
    code.closest('.sample')?.append(copyButton(`Copy the ${language}`, code));
    return { code, language, text: (code.textContent ?? '').replaceAll(SAMPLE_BASE_URL, location.origin) };
  });
  document.addEventListener('change', showLanguage);
  return () => {
    const variables = { OFFERBOOK_PUBLIC_TOKEN: findToken(), OFFERBOOK_ORG_ID: SETTINGS.orgId };
    for (const { code, language, text } of samples) {
      const shown = Object.entries(variables).reduce(
        (sample, [name, value]) => (value === undefined ? sample : withVariable(sample, name, value)),
        text,
      );
      if (shown !== code.textContent) code.replaceChildren(...colouredNodes(shown, language));
    }
  };
}

/** Selecting a language for one sample selects it for the whole page. */
function showLanguage({ target }: Event): void {
  if (!(target instanceof HTMLInputElement) || target.dataset.language === undefined) return;
  for (const other of document.querySelectorAll<HTMLInputElement>('input[data-language]')) {
    // A sample without this language keeps its current one.
    if (other.dataset.language === target.dataset.language) other.checked = true;
  }
}
