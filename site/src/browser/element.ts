// Creates DOM elements. Strings become text nodes, never markup, which Trusted Types would reject.

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;
type Child = Node | string | undefined;

/** An attribute set to true has no value; one set to false or undefined is omitted. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export function button(label: string, onPress: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', onPress);
  return made;
}

/** Isolates imported text, so that its bidirectional characters do not affect the rest of the line. */
export function isolated(text: string): HTMLElement {
  return element('bdi', {}, text);
}

/** Focusable, so that it can be scrolled with the keyboard. */
export function codeBlock(...content: readonly Child[]): HTMLElement {
  return element('pre', { tabindex: 0 }, element('code', {}, ...content));
}
