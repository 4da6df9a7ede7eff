// Adds plots, copy buttons and automatic refresh to the console. The console's pages are complete without this script.

import { copyButton } from '../copy-button.ts';
import { drawPlots } from './plots.ts';
import { keepCurrent } from './refresh.ts';

function enhance(): void {
  drawPlots();
  for (const code of document.querySelectorAll<HTMLElement>('.command code')) addCopyButton(code);
}

function addCopyButton(code: HTMLElement): void {
  const text = code.textContent ?? '';
  const previous = code.closest('.command')?.querySelector<HTMLElement>('.copy');
  if (previous?.dataset.copies === text) return;
  const made = copyButton(`Copy: ${text}`, code);
  made.dataset.added = '';
  made.dataset.copies = text;
  previous?.remove();
  code.closest('.command')?.append(made);
}

enhance();
keepCurrent(enhance);
