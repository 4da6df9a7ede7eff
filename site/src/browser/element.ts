// Creates DOM elements. Text stays text: markup cannot be passed in, and Trusted Types forbid it as well.

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;
export type Child = Node | string | undefined;

/** Sets a true attribute without a value, and omits false and undefined ones. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
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

/** Isolates imported text within a line. The style sheet keeps its bidirectional characters from affecting the line. */
export function isolated(text: string, attributes: Attributes = {}): HTMLElement {
  return element('bdi', attributes, text);
}
