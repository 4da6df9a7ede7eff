// Adds plots, copy buttons and automatic refresh to the console. The console's pages are complete without this script.

import { copyButton } from '../copy-button.ts';
import { drawPlots } from './plots.ts';
import { keepCurrent } from './refresh.ts';

function enhance(): void {
  drawPlots();
  for (const code of document.querySelectorAll<HTMLElement>('.command code')) {
    const text = code.textContent ?? '';
    code.closest('.command')?.append(copyButton(`Copy: ${text}`, text, code));
  }
}

enhance();
keepCurrent(enhance);
