// A button that copies the text of an element and confirms that it was copied.

import { button } from './element.ts';

const CONFIRMATION_MS = 2_000;

/** If the clipboard is unavailable, the button selects the text. */
export function copyButton(description: string, source: Node): HTMLButtonElement {
  let reset: ReturnType<typeof setTimeout> | undefined;
  const made = button('Copy', press, { class: 'copy', 'aria-label': description, 'aria-live': 'polite' });

  async function press(): Promise<void> {
    const outcome = await copyOrSelect(source);
    clearTimeout(reset);
    show(outcome, outcome);
    reset = setTimeout(() => show('Copy', description), CONFIRMATION_MS);
  }

  function show(label: string, description: string): void {
    made.textContent = label;
    made.setAttribute('aria-label', description);
  }
  return made;
}

/** Browsers allow the clipboard only on https and localhost, and users can deny it. */
async function copyOrSelect(source: Node): Promise<string> {
  try {
    await navigator.clipboard.writeText(source.textContent ?? '');
    return 'Copied';
  } catch {
    getSelection()?.selectAllChildren(source);
    return 'Press Ctrl+C';
  }
}
