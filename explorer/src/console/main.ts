// Brings the console to life: plots above the tables that they are drawn from, commands to copy, and pages that stay
// current. Everything is there without it.

import { copyButton } from '../copy-button.ts';
import { drawPlots } from './plots.ts';
import { keepCurrent } from './refresh.ts';

function enliven(): void {
  drawPlots(document);
  for (const code of document.querySelectorAll<HTMLElement>('.command code')) {
    const text = code.textContent ?? '';
    code.closest('.command')?.append(copyButton('Copy', `Copy: ${text}`, () => text, code));
  }
}

enliven();
keepCurrent(enliven);
