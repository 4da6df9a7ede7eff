// A button that copies text and confirms it.

import { button } from './element.ts';

const SAID_FOR_MS = 2_000;

/** `source` is the node that shows the text; if the clipboard is unavailable, the button selects it instead. */
export function copyButton(
  label: string,
  description: string,
  text: () => string,
  source: Node,
): HTMLButtonElement {
  let back: ReturnType<typeof setTimeout> | undefined;
  const made = button(label, press, { class: 'copy', 'aria-label': description, 'aria-live': 'polite' });

  async function press(): Promise<void> {
    say((await copy(text())) ? 'Copied' : select(source));
  }

  function say(words: string): void {
    clearTimeout(back);
    made.textContent = words;
    made.setAttribute('aria-label', words);
    back = setTimeout(() => {
      made.textContent = label;
      made.setAttribute('aria-label', description);
    }, SAID_FOR_MS);
  }
  return made;
}

/** Browsers allow the clipboard only on https and localhost, and users may deny it. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function select(source: Node): string {
  getSelection()?.selectAllChildren(source);
  return 'Press Ctrl+C';
}
