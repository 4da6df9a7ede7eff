// Makes elements. What comes in as text stays text: there is no way to hand in markup, and the pages forbid
// it besides (Trusted Types).

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;
export type Child = Node | string | undefined;

/** An attribute that is true is set without a value; one that is false or undefined is left out. */
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

/** Imported text inside a line of ours. The style sheet keeps its direction marks from affecting the rest of the line. */
export function isolated(text: string, attributes: Attributes = {}): HTMLElement {
  return element('bdi', attributes, text);
}
